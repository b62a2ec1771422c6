package netlab

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"downlink/agents/internal/lab/emulate"
)

// routers are hosts at the routers between the hops of a link. They belong to the pump's thread.
type routers struct {
	profile  emulate.Profile
	receiver [2]netip.Addr      // that of the link, by both families
	numbers  map[netip.Addr]int // of the routers, from 0 behind the hop at the gateway
	devices  []tun
	pump     *pump
	stopped  []stopped
}

// stopped is a packet that has come to a router.
type stopped struct {
	at     time.Duration
	number int
	packet *emulate.Packet
}

// routersOf are the routers of a profile as places.
func routersOf(profile emulate.Profile) (places []place, err error) {
	most := len(profile.Hops) - 1
	if most < 1 || most > maxRouters {
		return nil, fmt.Errorf("profile %s has %d routers between hops, and a link whose routers are hosts has 1 to %d: use a profile with 2 to %d hops",
			profile.Name, max(0, most), maxRouters, maxRouters+1)
	}
	for number := range most {
		places = append(places, routerPlace(number+1))
	}
	return places, nil
}

// wireRouters gives each router that is a host a device, and the others ways to it; nil where none is.
func (l *Lab) wireRouters(spaces namespaces) (*routers, error) {
	if len(l.routers) == 0 {
		return nil, nil
	}
	_, receiver := l.nets.data(0)
	_, receiver6 := l.nets.data6(0)
	made := &routers{profile: l.options.Profile, receiver: [2]netip.Addr{receiver.Addr(), receiver6.Addr()}, numbers: map[netip.Addr]int{}}
	for number, p := range l.routers {
		device, addresses, err := l.wireInside(spaces, p)
		if err != nil {
			return nil, err
		}
		for _, address := range addresses {
			made.numbers[address] = number
		}
		made.devices = append(made.devices, device)
	}
	return made, nil
}

// wireInside gives a host that is between the hops of a link a device, and the gateway's side ways to its addresses.
func (l *Lab) wireInside(spaces namespaces, p place) (device tun, addresses []netip.Addr, err error) {
	near, host := l.nets.data(p)
	near6, host6 := l.nets.data6(p)
	if device, err = makeTun(spaces[p], host, host6); err != nil {
		return device, nil, err
	}
	l.undo = append(l.undo, func() error { device.close(); return nil })
	if err := inside(spaces[p], func() error { return routeAllVia("data", near, near6) }); err != nil {
		return device, nil, err
	}
	addresses = []netip.Addr{host.Addr(), host6.Addr()}
	for _, address := range addresses {
		if err := inside(spaces[gateway], func() error { return routeOver("data", address) }); err != nil {
			return device, nil, err
		}
	}
	return device, addresses, nil
}

// seat lets the routers have the sites of the pump's link for good. The pump's thread does not run yet.
func (p *pump) seat(hosts *routers, network emulate.Network) {
	hosts.pump = p
	p.routers, p.sitting = hosts, &sitting{owner: hosts, profile: hosts.profile}
	p.fly(0, network, 0)
}

// ports are the routers' devices.
func (r *routers) ports() []tun {
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
	return to != r.receiver[0] && to != r.receiver[1]
}

// takeInAtRouters reads up to a batch of packets from each router's device.
func (p *pump) takeInAtRouters(fds []unix.PollFd) error {
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

// read takes a packet from a device; nil: none is there.
func (p *pump) read(device tun) (*emulate.Packet, error) {
	packet := p.fresh()
	n, err := unix.Read(device.fd, packet.Data[:packetRoom])
	if err != nil {
		p.free = append(p.free, packet)
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
			return nil, nil
		}
		return nil, fmt.Errorf("read from a TUN device: %w", err)
	}
	packet.Data, packet.SizeBytes = packet.Data[:n], n
	p.alert.carry(p.now())
	return packet, nil
}

// noteLateness counts how much after its moment a packet left at a router.
func (p *pump) noteLateness(at time.Duration) {
	late := p.now() - at
	if p.noteLate != nil {
		p.noteLate(late)
	}
	p.ways[0].late = max(p.ways[0].late, late)
}

// destination is where an IP packet goes; the zero address where that cannot be read.
func destination(packet []byte) netip.Addr {
	switch {
	case len(packet) >= 20 && packet[0]>>4 == 4:
		return netip.AddrFrom4([4]byte(packet[16:20]))
	case len(packet) >= 40 && packet[0]>>4 == 6:
		return netip.AddrFrom16([16]byte(packet[24:40]))
	}
	return netip.Addr{}
}
