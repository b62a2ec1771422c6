import { keepPreviousData, useQueryClient } from '@tanstack/react-query'
import { API, api } from '@/api/client'
import { toneOf } from '@/lib/states'
import type { CampaignsSearch } from './search'

const LIST = ['get', `${API}/campaigns`] as const
/** Events refresh what is under way; this is for the case that no stream gets through. */
const FALLBACK_POLL_MS = 60_000

export const CAMPAIGNS_A_PAGE = 25

/** The page before stays in sight until this one has come. */
export const useCampaigns = ({ page = 1, ...wanted }: CampaignsSearch) =>
  api.useQuery(
    'get',
    `${API}/campaigns`,
    { params: { query: { ...given(wanted), limit: CAMPAIGNS_A_PAGE, offset: (page - 1) * CAMPAIGNS_A_PAGE } } },
    { placeholderData: keepPreviousData },
  )

type Given<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }
const given = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>

/** How much room its samples take, for who may ask. */
export const useDataSize = (campaign_id: string, enabled: boolean) =>
  api.useQuery(
    'get',
    `${API}/campaigns/{campaign_id}/retention`,
    { params: { path: { campaign_id } } },
    { enabled, select: ({ size }) => size },
  )

export const useCampaignChoices = () => api.useQuery('get', `${API}/campaigns/choices`)

const path = (campaign_id: string) => ({ params: { path: { campaign_id } } })

export const campaignQuery = (campaign_id: string) => api.queryOptions('get', `${API}/campaigns/{campaign_id}`, path(campaign_id))

export const useCampaign = (campaign_id: string) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}`, path(campaign_id), {
    refetchInterval: (query) => (toneOf(query.state.data?.state ?? '') === 'active' ? FALLBACK_POLL_MS : false),
  })

/** What it does now; nothing is asked of one that is not under way. */
export const useCampaignNow = (campaign_id: string, isUnderWay: boolean) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/now`, path(campaign_id), {
    enabled: isUnderWay,
    refetchInterval: FALLBACK_POLL_MS,
  })

/** What a campaign with a trigger waits for, and what it has fired. */
export const useTrigger = (campaign_id: string, isWanted: boolean) =>
  api.useQuery('get', `${API}/campaigns/{campaign_id}/trigger`, path(campaign_id), { enabled: isWanted, refetchInterval: 10_000 })

export const useNewSecret = () => api.useMutation('post', `${API}/campaigns/{campaign_id}/trigger/secret`, useRefreshing())

function useRefreshing() {
  const cache = useQueryClient()
  return { onSuccess: () => cache.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[1]).startsWith(LIST[1]) }) }
}

export const useCreateCampaign = () => api.useMutation('post', `${API}/campaigns`, useRefreshing())
export const useChangeDraft = () => api.useMutation('put', `${API}/campaigns/{campaign_id}`, useRefreshing())
export const useDuplicate = () => api.useMutation('post', `${API}/campaigns/{campaign_id}/duplicate`, useRefreshing())
export const useDescribe = () => api.useMutation('patch', `${API}/campaigns/{campaign_id}`, useRefreshing())
export const useLaunch = () => api.useMutation('post', `${API}/campaigns/{campaign_id}/launch`, useRefreshing())
export const usePause = () => api.useMutation('post', `${API}/campaigns/{campaign_id}/pause`, useRefreshing())
export const useResume = () => api.useMutation('post', `${API}/campaigns/{campaign_id}/resume`, useRefreshing())
export const useCancel = () => api.useMutation('post', `${API}/campaigns/{campaign_id}/cancel`, useRefreshing())

export function useDeleteCampaign() {
  const cache = useQueryClient()
  return api.useMutation('delete', `${API}/campaigns/{campaign_id}`, {
    onSuccess: () =>
      Promise.all([
        cache.invalidateQueries({ queryKey: LIST }),
        cache.invalidateQueries({ queryKey: ['get', `${API}/campaigns/choices`] }),
      ]),
  })
}

/** How far an installation is that has no campaign yet. */
export function useFirstSteps() {
  const agents = api.useQuery(
    'get',
    `${API}/agents`,
    { params: { query: { limit: 200 } } },
    { select: ({ items }) => items.filter((agent) => !agent.revoked_at).length },
  )
  const links = api.useQuery('get', `${API}/links`, { params: { query: { limit: 100 } } }, { select: ({ items }) => items.length })
  return { agents: agents.data, links: links.data }
}
