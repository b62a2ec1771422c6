import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { Later } from './Later'

test('what lies below comes after what lies above, and at once on later pages', async () => {
  const first = render(<Later>below</Later>)
  expect(screen.queryByText('below')).toBeNull()
  await screen.findByText('below')
  first.unmount()
  render(<Later>below</Later>)
  screen.getByText('below')
})
