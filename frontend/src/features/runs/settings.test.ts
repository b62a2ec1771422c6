import { expect, it } from 'vitest'
import type { RunHost } from '@/api/types'
import { settingRows } from './settings'

const host: RunHost = {
  agent: 'server-1',
  roles: ['sender'],
  phase: 'restored',
  settings_asked: { 'tcp_cubic.hystart': '0', 'net.ipv4.tcp_wmem': '4096 16384 60000000' },
  settings_before: { 'net.ipv4.tcp_wmem': '4096\t16384\t4194304', 'tcp_cubic.hystart': '1', 'net.ipv4.tcp_sack': '1' },
  settings_during: { 'net.ipv4.tcp_wmem': '4096\t16384\t60000000', 'tcp_cubic.hystart': '1', 'net.ipv4.tcp_sack': '1' },
  settings_after: { 'net.ipv4.tcp_wmem': '4096\t16384\t60000000', 'tcp_cubic.hystart': '1', 'net.ipv4.tcp_sack': '1' },
  is_restored: false,
  differences: ['net.ipv4.tcp_wmem'],
  fingerprint: null,
  missing: [],
}

it('asked settings come first, each with what was before, during and after', () => {
  expect(settingRows(host).map(({ name }) => name)).toEqual(['net.ipv4.tcp_wmem', 'tcp_cubic.hystart', 'net.ipv4.tcp_sack'])
})

it('tells a refused setting from one that was not put back, whatever the spaces', () => {
  const [wmem, hystart, sack] = settingRows(host)
  expect([wmem?.isRefused, wmem?.isLeft]).toEqual([false, true])
  expect([hystart?.isRefused, hystart?.isLeft]).toEqual([true, false])
  expect([sack?.isRefused, sack?.isLeft]).toEqual([false, false])
})

it('a host that was never prepared has only what was asked', () => {
  const rows = settingRows({ ...host, settings_before: null, settings_during: null, settings_after: null })
  expect(rows.map(({ before, isRefused }) => [before, isRefused])).toEqual([
    [null, false],
    [null, false],
  ])
})
