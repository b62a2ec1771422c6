import { Text } from '@mantine/core'
import { ProgressBar } from '@/ui/ProgressBar'

/** How far the upload is; then the server reads the files. */
export function Sending({ share }: { share: number }) {
  const percent = Math.floor(100 * share)
  return (
    <div>
      <ProgressBar label="Upload" total={100} segments={[{ tone: 'active', count: percent }]} />
      <Text size="sm" mt={6} role="status">
        {percent < 100 ? `Uploading: ${percent} %` : 'Uploaded. The files are being checked; large ones take a while.'}
      </Text>
    </div>
  )
}
