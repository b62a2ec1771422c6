import type { Link } from '@/api/types'

/** How long a quick test sends; the server's `domain/campaigns/quick.py`. */
export const QUICK_S = 15

/** The most that one carries: the link full all the while. */
export const mostBytes = ({ nominal_rate_bps }: Pick<Link, 'nominal_rate_bps'>) => (nominal_rate_bps / 8) * QUICK_S
