import type { Account } from '@/api/types'

export type Role = Account['role']

export const ROLES = [
  { value: 'viewer', may: 'Reads everything' },
  { value: 'operator', may: 'Measures, and changes what is their own' },
  { value: 'admin', may: 'Everything, people and agents included' },
] satisfies { value: Role; may: string }[]
