import { Button } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ReportDocument } from '../report/ReportDocument'

const route = getRouteApi('/shell/campaigns/$campaignId/report')

/** A campaign on paper. */
export function ReportPage() {
  const { campaignId } = route.useParams()
  return (
    <ReportDocument
      campaignId={campaignId}
      back={
        <Button size="xs" variant="subtle" renderRoot={(props) => <Link to="/campaigns/$campaignId" params={{ campaignId }} {...props} />}>
          Back to the campaign
        </Button>
      }
    />
  )
}
