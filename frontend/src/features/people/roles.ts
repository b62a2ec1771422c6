import type { Account } from '@/api/types'

export type Role = Account['role']

export const ROLES = [
  { value: 'viewer', label: 'viewer: reads everything' },
  { value: 'operator', label: 'operator: measures, and changes what is their own' },
  { value: 'admin', label: 'admin: everything, people and agents included' },
] satisfies { value: Role; label: string }[]
