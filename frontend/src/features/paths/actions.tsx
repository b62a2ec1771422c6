import { Button } from '@mantine/core'
import { API } from '@/api/client'
import type { SatellitePath } from '@/api/types'
import { Allowed } from '@/ui/Allowed'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { useDeletePath } from './queries'

interface ActionProps {
  path: SatellitePath
  /** In a row of a table. */
  isCompact?: boolean
}

/** Its file, once it is made. */
export function DownloadPath({ path, isCompact = false }: ActionProps) {
  if (path.state !== 'ready') return null
  return (
    <Button
      component="a"
      href={`${API}/paths/${path.id}/file`}
      download
      size={isCompact ? 'compact-sm' : 'sm'}
      variant="default"
      aria-label={`Download ${path.ready}`}
    >
      Download
    </Button>
  )
}

export function DeletePath({ path, isCompact = false, onDeleted }: ActionProps & { onDeleted?: () => void }) {
  const remove = useDeletePath()
  const isUnderWay = path.state === 'queued' || path.state === 'making'
  return (
    <Allowed verb="derive">
      <ConfirmButton
        size={isCompact ? 'compact-sm' : 'sm'}
        variant="subtle"
        color="gray"
        aria-label={`Delete ${path.ready}`}
        question={`Delete ${path.ready}?`}
        consequence={
          isUnderWay
            ? 'Its computation stops. The same path can be created again.'
            : 'Its file is deleted too. Downloaded copies stay, and the same path can be created again.'
        }
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={(close) =>
          remove.mutate(
            { params: { path: { path_id: path.id } } },
            {
              onSuccess: () => {
                close()
                onDeleted?.()
              },
            },
          )
        }
      >
        Delete
      </ConfirmButton>
    </Allowed>
  )
}
