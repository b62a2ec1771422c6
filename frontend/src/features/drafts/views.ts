/** How a draft is shown; the address says which. */
export const VIEWS = ['form', 'yaml'] as const
export type View = (typeof VIEWS)[number]
