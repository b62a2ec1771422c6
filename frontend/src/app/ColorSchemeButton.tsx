import { ActionIcon, useMantineColorScheme } from '@mantine/core'

const NEXT = { auto: 'light', light: 'dark', dark: 'auto' } as const
const SAYS = { auto: 'as the system', light: 'light', dark: 'dark' } as const
const ICON = {
  auto: 'M8 1.5a6.5 6.5 0 1 0 0 13zm0 0v13a6.5 6.5 0 0 0 0-13z',
  light:
    'M8 4.6a3.4 3.4 0 1 0 0 6.8 3.4 3.4 0 0 0 0-6.8M8 .8v1.8M8 13.4v1.8M.8 8h1.8M13.4 8h1.8M2.9 2.9l1.3 1.3M11.8 11.8l1.3 1.3M2.9 13.1l1.3-1.3M11.8 4.2l1.3-1.3',
  dark: 'M13.8 9.9A6.2 6.2 0 0 1 6.1 2.2a6.2 6.2 0 1 0 7.7 7.7z',
} as const

/** System, light, dark, in turn; the browser remembers. */
export function ColorSchemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const label = `Colours: ${SAYS[colorScheme]}. Switch to ${SAYS[NEXT[colorScheme]]}`
  return (
    <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} title={label} onClick={() => setColorScheme(NEXT[colorScheme])}>
      <svg
        width="17"
        height="17"
        viewBox="0 0 16 16"
        aria-hidden="true"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
      >
        <path d={ICON[colorScheme]} />
        {colorScheme === 'auto' ? <path d="M8 1.5a6.5 6.5 0 0 0 0 13z" fill="currentColor" /> : null}
      </svg>
    </ActionIcon>
  )
}
