package pump

import (
	"net/netip"

	"golang.org/x/sys/unix"

	"downlink/agents/internal/lab/emulate"
)

// branches are the further receivers of a link. They belong to the pump's thread.
type branches struct {
	*emulate.Fork
	numbers map[netip.Addr]int // of the receivers, from 1
	devices []Device
	pump    *Pump
}

// fork lets packets reach further receivers. The pump's thread does not run yet.
func (p *Pump) fork(receivers []Host, network emulate.Network) {
	b := &branches{numbers: map[netip.Addr]int{}, pump: p}
	for i, host := range receivers {
		b.devices = append(b.devices, host.Device)
		for _, address := range host.Addresses {
			b.numbers[address] = i + 1
		}
	}
	b.Fork = emulate.NewFork(p.options.Profile, b.leave)
	b.Begin(p.options.Seed, 0)
	p.branches, p.sitting = b, &sitting{owner: b.Fork, profile: p.options.Profile}
	p.fly(0, network, 0)
}

// ports are the receivers' devices.
func (b *branches) ports() []Device {
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
func (p *Pump) takeInAtBranches(fds []unix.PollFd) error {
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
