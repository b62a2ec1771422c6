/** A first campaign to edit: Peters 2021's comparison, short. */
export function exampleSource(link: string): string {
  return `name: HyStart on and off
notes: ""
links: [${link}]
stop: {seconds: 60}                # or {bytes: 1000000000}
phases: {startup_s: 15, steady_s: 20}
timetable:
  cycles: 5                        # or duration_h and every_s
  pause_s: 10
  order: interleaved               # or shuffled, from seed
limits: {attempts: 2}              # tries per run
defaults:                          # merged under every condition
  sender: {net.ipv4.tcp_wmem: 4096 16384 60000000}
  receiver: {net.ipv4.tcp_rmem: 4096 131072 60000000}
conditions:
  - name: HyStart on
    sender: {tcp_cubic.hystart: 1}
  - name: HyStart off
    sender: {tcp_cubic.hystart: 0}
`
}
