import { screen, waitFor } from '@testing-library/react'
import { expect, it } from 'vitest'
import { applyLiveEvent } from '@/api/sync'
import { serve } from '@/testing/network'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

const IDLE = /The server starts no runs/

it('a conductor that has stopped is named on every page until it is back', async () => {
  const world = serve({ ...makeWorld(), isConducting: false })
  const { cache } = renderAt('/links')
  expect(await screen.findByText(IDLE)).toBeTruthy()
  world.isConducting = true
  applyLiveEvent(cache, 'service', {})
  await waitFor(() => expect(screen.queryByText(IDLE)).toBeNull())
})
