package netlab

import (
	"net/netip"

	"golang.org/x/sys/unix"

	"downlink/agents/internal/lab/emulate"
)

// branches are the further receivers of a link. They belong to the pump's thread.
type branches struct {
	*emulate.Fork
	profile emulate.Profile
	seed    uint64
	numbers map[netip.Addr]int // of the receivers, from 1
	devices []tun
	pump    *pump
}

// wireBranches gives each further receiver a device, and the others ways to it; nil where there is none.
func (l *Lab) wireBranches(spaces namespaces) (*branches, error) {
	if len(l.further) == 0 {
		return nil, nil
	}
	made := &branches{profile: l.options.Profile, seed: l.options.Seed, numbers: map[netip.Addr]int{}}
	for i, p := range l.further {
		device, addresses, err := l.wireInside(spaces, p)
		if err != nil {
			return nil, err
		}
		for _, address := range addresses {
			made.numbers[address] = i + 1
		}
		made.devices = append(made.devices, device)
	}
	return made, nil
}

// fork lets packets reach the further receivers of the pump's link. The pump's thread does not run yet.
func (p *pump) fork(b *branches, network emulate.Network) {
	b.pump, p.branches = p, b
	b.Fork = emulate.NewFork(b.profile, b.leave)
	b.Begin(b.seed, 0)
	p.sitting = &sitting{owner: b.Fork, profile: b.profile}
	p.fly(0, network, 0)
}

// ports are the receivers' devices.
func (b *branches) ports() []tun {
	if b == nil {
		return nil
	}
	return b.devices
}

// direct lets a packet from the gateway to a further receiver stop at sites; those of other origins go by the gateway.
func (b *branches) direct(packet *emulate.Packet) {
	if b == nil {
		return
	}
	if packet.Branch = b.numbers[destination(packet.Data)]; packet.Branch > 0 {
		packet.StopsAtSites = true
	}
}

// leave writes what has come through a branch to its receiver.
func (b *branches) leave(branch int, isUp bool, packet *emulate.Packet) {
	p := b.pump
	switch {
	case packet.Lost != emulate.NotLost && p.course != nil:
		way := 0
		if isUp {
			way = 1
		}
		p.noteLost(way, packet)
	case packet.Lost == emulate.NotLost && branch > 0:
		p.noteLateness(packet.LeftAt)
		if _, err := unix.Write(b.devices[branch-1].fd, packet.Data); err != nil {
			p.badWrites.Add(1)
		}
	}
	p.Free(packet)
}

// takeInAtBranches reads up to a batch of packets from each further receiver's device.
func (p *pump) takeInAtBranches(fds []unix.PollFd) error {
	for i := range fds {
		if fds[i].Revents == 0 {
			continue
		}
		for range readBatch {
			packet, err := p.read(p.branches.devices[i])
			if err != nil {
				return err
			}
			if packet == nil {
				break
			}
			if p.sieve(packet) {
				p.Free(packet)
				continue
			}
			now := p.now()
			p.runCircuit(now, nil, nil)
			p.branches.Enter(now, i+1, packet)
			p.runCircuit(now, nil, nil)
		}
	}
	return nil
}

// host lets the relays of a run have the sites beside the branches, or with nil nobody.
func (b *branches) host(r *relaying) {
	if r == nil {
		b.Host(nil)
		return
	}
	b.Host(r.Relays)
	r.owner = b.Fork
}
