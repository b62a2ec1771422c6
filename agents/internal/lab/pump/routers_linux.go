package pump

import (
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"downlink/agents/internal/lab/emulate"
)

// routers are hosts at the routers between the hops of a link. They belong to the pump's thread.
type routers struct {
	receiver []netip.Addr       // addresses of the link's
	numbers  map[netip.Addr]int // of the routers, from 0 behind the hop at the gateway
	devices  []Device
	pump     *Pump
	stopped  []stopped
}

// stopped is a packet that has come to a router.
type stopped struct {
	at     time.Duration
	number int
	packet *emulate.Packet
}

// seat gives hosts at routers the sites of the pump's link, and never takes them back. The pump's thread does not run yet.
func (p *Pump) seat(hosts []Host, network emulate.Network) {
	r := &routers{receiver: p.options.Receiver.Addresses, numbers: map[netip.Addr]int{}, pump: p}
	for number, host := range hosts {
		r.devices = append(r.devices, host.Device)
		for _, address := range host.Addresses {
			r.numbers[address] = number
		}
	}
	p.routers, p.sitting = r, &sitting{owner: r, profile: p.options.Profile}
	p.fly(0, network, 0)
}

// ports are the routers' devices.
func (r *routers) ports() []Device {
	if r == nil {
		return nil
	}
	return r.devices
}

// has tells whether a packet is for one of the routers.
func (r *routers) has(packet *emulate.Packet) bool {
	_, isRouter := r.numbers[destination(packet.Data)]
	return isRouter
}

// Take is given a packet for some router that has come to one.
func (r *routers) Take(at time.Duration, site emulate.Site, p *emulate.Packet) {
	r.stopped = append(r.stopped, stopped{at, site.Hop, p})
}

// Wake is at once after a Take: hosts send of themselves by their devices.
func (r *routers) Wake() time.Duration {
	if len(r.stopped) == 0 {
		return emulate.Never
	}
	return r.stopped[0].at
}

// Reach is never: what hosts send is read from their devices.
func (r *routers) Reach() time.Duration { return r.Wake() }

// AreHosts is true: packets leave the link at routers.
func (r *routers) AreHosts() bool { return true }

// Turn hands packets to their hosts, and lets those for a router further on pass.
func (r *routers) Turn(_ time.Duration, give func(site emulate.Site, isUp bool, p *emulate.Packet)) {
	for i := 0; i < len(r.stopped); i++ {
		s := r.stopped[i]
		to, isRouter := r.numbers[destination(s.packet.Data)]
		if isRouter && to != s.number {
			give(siteOf(s.number), to < s.number, s.packet)
			continue
		}
		r.pump.noteLateness(s.at)
		if _, err := unix.Write(r.devices[s.number].fd, s.packet.Data); err != nil {
			r.pump.badWrites.Add(1)
		}
		r.pump.Free(s.packet)
	}
	r.stopped = r.stopped[:0]
}

func siteOf(number int) emulate.Site { return emulate.Site{Hop: number, Node: emulate.Router} }

// isUp tells which way a router's packet leaves.
func (r *routers) isUp(number int, packet *emulate.Packet) bool {
	to := destination(packet.Data)
	if other, isRouter := r.numbers[to]; isRouter {
		return other < number
	}
	return !slices.Contains(r.receiver, to)
}

// takeInAtRouters reads up to a batch of packets from each router's device.
func (p *Pump) takeInAtRouters(fds []unix.PollFd) error {
	for number := range fds {
		if fds[number].Revents == 0 {
			continue
		}
		for range readBatch {
			packet, err := p.read(p.routers.devices[number])
			if err != nil {
				return err
			}
			if packet == nil {
				break
			}
			packet.StopsAtSites = p.routers.has(packet)
			p.sitting.wake = p.sitting.circuit.Put(p.now(), siteOf(number), p.routers.isUp(number, packet), packet, p.leave)
		}
	}
	return nil
}

// noteLateness counts how much after its moment a packet left at a router.
func (p *Pump) noteLateness(at time.Duration) {
	late := p.now() - at
	if p.noteLate != nil {
		p.noteLate(late)
	}
	p.ways[0].late = max(p.ways[0].late, late)
}
