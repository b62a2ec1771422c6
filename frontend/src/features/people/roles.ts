import type { Account } from '@/api/types'

export type Role = Account['role']

export const ROLES = [
  { value: 'viewer', may: 'Reads everything' },
  { value: 'operator', may: 'Measures, and changes their own campaigns and links' },
  { value: 'admin', may: 'Everything, people and agents included' },
] satisfies { value: Role; may: string }[]
