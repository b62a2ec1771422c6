package pump

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/pathrelay"
)

// way is read from one place's device, through its line, and written to another's.
type way struct {
	emulate.Way
	index    int
	from, to Device
	// zero is the line's time 0 on the pump's clock.
	zero   time.Duration
	wake   time.Duration  // on the pump's clock
	late   time.Duration  // the largest since the last look
	counts emulate.Counts // as of the last round; the line itself is the pump thread's own
	past   emulate.Counts // of the lines before
}

// round lets out what is due on one way, and takes in a batch of what has arrived.
func (p *Pump) round(w *way, hasArrivals bool) error {
	p.step(w, nil)
	if hasArrivals {
		if err := p.takeIn(w); err != nil {
			return err
		}
	}
	p.countsLock.Lock()
	w.counts = w.Line.Counts()
	p.countsLock.Unlock()
	return nil
}

// takeIn reads up to a batch of packets into the line.
func (p *Pump) takeIn(w *way) error {
	for range readBatch {
		packet, err := p.read(w.from)
		if packet == nil {
			return err
		}
		p.tellPassage(w, packet, false)
		if p.sieve(packet) {
			p.Free(packet)
			continue
		}
		if w.From == emulate.Gateway {
			p.branches.direct(packet)
		}
		p.step(w, packet)
	}
	return nil
}

// step moves a line up to the present and writes what left it.
func (p *Pump) step(w *way, in *emulate.Packet) {
	if p.sitting != nil && p.isCurrent(w) {
		p.runCircuit(p.now(), w, in)
		return
	}
	var wake time.Duration
	p.out, wake = w.Line.Step(p.now()-w.zero, in, p.out[:0])
	if w.wake = emulate.Never; wake != emulate.Never {
		w.wake = wake + w.zero
	}
	p.letOut(w, p.out)
}

// letOut writes the packets that have left a way.
func (p *Pump) letOut(w *way, out []*emulate.Packet) {
	if len(out) == 0 {
		return
	}
	now := p.now() - w.zero
	for _, packet := range out {
		isLost, isInner := packet.Lost != emulate.NotLost, pathrelay.IsInner(packet)
		if !isLost && !isInner {
			if p.noteLate != nil {
				p.noteLate(now - packet.LeftAt)
			}
			p.tellPassage(w, packet, true)
			if _, err := unix.Write(w.to.fd, packet.Data); err != nil {
				p.badWrites.Add(1) // the device is down or refuses the packet, as a cut wire would
			}
		} else if isLost && p.course != nil && w.Line == p.course.network[w.index].Line {
			p.noteLost(w.index, packet)
		}
		if !isLost && !isInner { // what ends between two hops wakes nobody, and can wait to be counted
			w.late = max(w.late, now-packet.LeftAt)
		}
		p.Free(packet)
	}
}

// fresh gives an unused packet with room for the largest one.
func (p *Pump) fresh() *emulate.Packet {
	if last := len(p.free) - 1; last >= 0 {
		packet := p.free[last]
		p.free = p.free[:last]
		return packet
	}
	return &emulate.Packet{Data: make([]byte, packetRoom)}
}

// read takes a packet from a device; nil: none is there.
func (p *Pump) read(device Device) (*emulate.Packet, error) {
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
