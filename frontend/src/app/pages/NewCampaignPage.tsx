import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCreateCampaign } from '@/features/campaigns/queries'
import { useDraftLinks } from '@/features/drafts/known'
import { StartPage } from '@/features/drafts/StartPage'
import { FILE_START, textOfStart } from '@/features/drafts/start'
import { findTemplate } from '@/features/drafts/templates'
import { keepUnsaved } from '@/features/drafts/unsaved'
import { DraftPage } from './DraftPage'

const route = getRouteApi('/shell/campaigns/new')

/** First what to begin with, then the draft that was made of it. */
export function NewCampaignPage() {
  const { start, view } = route.useSearch()
  const navigate = route.useNavigate()
  const links = useDraftLinks()
  const begin = useQuery({
    queryKey: ['draft', 'start', start],
    queryFn: () => textOfStart(start, links.data?.items ?? []),
    enabled: start !== undefined && !links.isPending,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const create = useCreateCampaign()
  const takeFile = (text: string) => {
    keepUnsaved(FILE_START, { text, at: new Date().toISOString() })
    void navigate({ search: { start: FILE_START, view } })
  }
  if (start === undefined || begin.data === null) return <StartPage onFile={takeFile} />
  if (begin.data === undefined) return null
  const template = findTemplate(start)
  return (
    <DraftPage
      key={start}
      draftKey={start}
      start={begin.data}
      title="New campaign"
      description={template ? `${template.answers} ${template.figure}.` : 'Describe what to compare. The plan follows what you type.'}
      view={view ?? 'form'}
      onView={(next) => void navigate({ search: (old) => ({ ...old, view: next }), replace: true, resetScroll: false })}
      save={{
        isPending: create.isPending,
        error: create.error,
        run: (source, onSaved) => create.mutate({ body: { source } }, { onSuccess: ({ id }) => onSaved(id) }),
      }}
    />
  )
}
