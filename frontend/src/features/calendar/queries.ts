import { keepPreviousData } from '@tanstack/react-query'
import { API, api } from '@/api/client'
import type { CalendarSearch } from './search'

/** It counts runs of all campaigns: asked again once a minute, and not with every run that begins or ends. */
const POLL_MS = 60_000

export const useCalendar = ({ from, days }: CalendarSearch) =>
  api.useQuery(
    'get',
    `${API}/calendar`,
    { params: { query: { ...(from ? { from } : {}), ...(days ? { days } : {}) } } },
    { placeholderData: keepPreviousData, refetchInterval: POLL_MS },
  )
