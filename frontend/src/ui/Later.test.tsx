import { render, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'

test('what lies below comes after what lies above, and at once on later pages', async () => {
  vi.resetModules() // whether a page was loaded before is kept by the module, which other tests have used
  const { Later } = await import('./Later')
  const first = render(<Later>below</Later>)
  expect(screen.queryByText('below')).toBeNull()
  await screen.findByText('below')
  first.unmount()
  render(<Later>below</Later>)
  screen.getByText('below')
})
