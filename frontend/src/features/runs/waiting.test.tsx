import { cleanup, screen } from '@testing-library/react'
import { it } from 'vitest'
import type { CampaignNow, Run } from '@/api/types'
import { serve } from '@/testing/network'
import { answerOf, IDS, runId } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'
import { makeWorld } from '@/testing/world'

const SAID = 'server is in a run of campaign Night on leo.'

it('a run whose time has come says what it waits for, on its campaign’s page and on its own', async () => {
  const world = makeWorld()
  const id = runId('running', 1)
  const now = answerOf('running-now').body as CampaignNow
  const next = { ...(now.next[0] ?? now.active[0]), id, due_at: '2026-01-01T00:00:00Z' } as CampaignNow['next'][number]
  world.instead[`/campaigns/${IDS.running}/now`] = { ...now, next: [next], waits: [{ run_id: id, waits_for: SAID }] }
  world.instead[`/runs/${id}`] = { ...(answerOf('running-run-1').body as Run), id, state: 'planned', waits_for: SAID }
  serve(world)
  renderAt(`/campaigns/${IDS.running}`)
  await screen.findByText(/it waits: server is in a run of campaign Night on leo$/)
  cleanup()
  renderAt(`/runs/${id}`)
  await screen.findByText(SAID)
})
