import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { API } from '@/api/client'
import type { ImportAnswer } from '@/api/types'
import { upload } from '@/api/upload'

interface Wanted {
  files: readonly File[]
  campaign?: string
  campaign_id?: string
  condition?: string
  skip_refused?: string
}

function formOf({ files, ...target }: Wanted): FormData {
  const form = new FormData()
  for (const [field, value] of Object.entries(target)) if (value) form.append(field, value)
  for (const file of files) form.append('files', file, file.name)
  return form
}

/** Sends files to be imported; `share` is how much is sent, null when nothing is under way. */
export function useImport() {
  const cache = useQueryClient()
  const [share, setShare] = useState<number | null>(null)
  const { mutateAsync, isPending, error, reset } = useMutation({
    mutationFn: (wanted: Wanted) => upload<ImportAnswer>('/imports', formOf(wanted), setShare),
    onMutate: () => setShare(0),
    onSettled: () => setShare(null),
    onSuccess: () => cache.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[1]).startsWith(`${API}/campaigns`) }),
  })
  return { send: mutateAsync, share, isPending, error, reset }
}
