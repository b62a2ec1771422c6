import type { Link, WeatherState } from '@/api/types'
import { formatDayAndClock } from '@/lib/time'

interface Said {
  text: string
  isProblem: boolean
}

/** What the server's weather service has to do with a link; nothing where the server asks none. */
export function serviceText(state: WeatherState, link: Pick<Link, 'name' | 'latitude'>): Said | null {
  if (!state.is_on) return null
  if (link.latitude === null)
    return { text: `The server asks ${state.source} for links with a place: give this one a latitude and a longitude.`, isProblem: false }
  const place = state.places.find(({ links }) => links.includes(link.name))
  const next = place ? ` It is asked next at ${formatDayAndClock(place.due_at)}.` : ''
  if (place?.problem) return { text: `${state.source}: ${place.detail} (${place.problem})${next}`, isProblem: true }
  if (place?.reading_at) return { text: `${state.source}: values of ${formatDayAndClock(place.reading_at)}.${next}`, isProblem: false }
  return { text: `${state.source} is asked in a moment.`, isProblem: false }
}
