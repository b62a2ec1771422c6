import { fireEvent, screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { serve } from '@/testing/network'
import { runId } from '@/testing/recordings'
import { renderAt } from '@/testing/renderAt'

it('shows what held the flow, over all and at the cursor', async () => {
  serve()
  renderAt(`/runs/${runId('recorded', 1)}?tab=limits`)
  expect(await screen.findByText(/^Held by the congestion window for 76 % of its time\.$/)).toBeTruthy()
  expect(screen.getByText('Whole flow')).toBeTruthy()
  fireEvent.change(screen.getByRole('slider', { name: 'Cursor' }), { target: { value: '20' } })
  expect(screen.getByText('At 20 s')).toBeTruthy()
  expect(screen.getByText('Application').textContent).toBe('Application 0 %')
})

it('a trace of every ACK does not tell, and why', async () => {
  serve()
  renderAt(`/runs/${runId('acks', 0)}?tab=limits`)
  expect(await screen.findByText(/^Recording every ACK leaves out the counters/)).toBeTruthy()
})

it('a run without a trace says so', async () => {
  serve()
  renderAt(`/runs/${runId('running', 2)}?tab=limits`)
  expect(await screen.findByText('Nothing to tell yet')).toBeTruthy()
})
