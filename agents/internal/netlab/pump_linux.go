package netlab

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"downlink/agents/internal/emulate"
)

const (
	// readBatch bounds how long arrivals can keep due departures waiting.
	readBatch = 32
	// spacedBps is the fastest link whose packets leave one by one, each when it is due: congestion controls read the
	// rate of a link from the gaps between packets and between acknowledgements.
	spacedBps = 200e6
	// lead is how long before a packet is due the pump begins to look at the clock all the time. Waking up takes about
	// that long, so that it costs little.
	lead = 20 * time.Microsecond
	// rest is the shortest sleep of a faster link: due packets leave a few at a time, which costs up to this much delay
	// and saves most of the wake-ups. The line's own times stay exact.
	rest = 200 * time.Microsecond
	// shortWait is the longest wait that Go is not told of.
	shortWait = time.Millisecond
	// packetRoom holds the largest packet of the devices' MTU.
	packetRoom = 2048
)

// pump carries packets between two TUN devices through the lines of a link. It is the only clock of the emulation.
type pump struct {
	down, up   direction
	isSpaced   bool // packets leave one by one
	stop       int  // eventfd
	free       []*emulate.Packet
	out        []*emulate.Packet
	started    time.Time
	badWrites  atomic.Uint64
	thread     atomic.Int32 // of the kernel
	countsLock sync.Mutex
	ended      chan struct{} // closed when the thread has ended, with err set
	err        error
}

// direction is one way: read from one device, through a line, written to the other.
type direction struct {
	from, to tun
	line     *emulate.Line
	wake     time.Duration
	counts   emulate.Counts // as of the last round; the line itself is the pump thread's own
}

func leavesOneByOne(profile emulate.Profile) bool { return profile.PeakBps() <= spacedBps }

// startPump starts the pump on a thread of its own. It ends with Stop, or when a device fails.
func startPump(profile emulate.Profile, seed uint64, isSpaced bool, gateway, receiver tun) (*pump, error) {
	stop, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make the pump's stop event: %w", err)
	}
	link := emulate.New(profile, seed)
	p := &pump{
		down:     direction{from: gateway, to: receiver, line: link.Down, wake: emulate.Never},
		up:       direction{from: receiver, to: gateway, line: link.Up, wake: emulate.Never},
		isSpaced: isSpaced,
		stop:     stop, started: time.Now(), ended: make(chan struct{}),
	}
	go func() {
		defer close(p.ended)
		p.err = p.run()
	}()
	return p, nil
}

// Carry lets an emulated link carry packets between two TUN devices, which are read without blocking, until stop is
// called. It is for tests of what runs over a link without the rest of a lab.
func Carry(profile emulate.Profile, isSpaced bool, gatewayFd, receiverFd int) (stop func() error, err error) {
	p, err := startPump(profile, profile.Seed, isSpaced, tun{gatewayFd}, tun{receiverFd})
	if err != nil {
		return nil, err
	}
	return p.Stop, nil
}

// Stop ends the pump and waits for it. Packets on their way are gone.
func (p *pump) Stop() error {
	_, _ = unix.Write(p.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // fails only when it was stopped before
	<-p.ended
	_ = unix.Close(p.stop)
	return p.err
}

// Counts returns what both lines did so far.
func (p *pump) Counts() (down, up emulate.Counts) {
	p.countsLock.Lock()
	defer p.countsLock.Unlock()
	return p.down.counts, p.up.counts
}

func (p *pump) run() error {
	runtime.LockOSThread()
	p.thread.Store(int32(unix.Gettid()))
	budget := budget{isNeeded: preferThread()}
	fds := []unix.PollFd{
		{Fd: int32(p.down.from.fd), Events: unix.POLLIN},
		{Fd: int32(p.up.from.fd), Events: unix.POLLIN},
		{Fd: int32(p.stop), Events: unix.POLLIN},
	}
	for fds[2].Revents == 0 {
		if err := p.round(&p.down, fds[0].Revents != 0); err != nil {
			return err
		}
		if err := p.round(&p.up, fds[1].Revents != 0); err != nil {
			return err
		}
		if err := p.wait(fds); err != nil {
			return err
		}
		budget.keep(p.now())
	}
	return nil
}

// preferThread lets the pump run before other threads when it has something to do, and its timers fire when they are
// due: the kernel otherwise gathers timers within 50 us. Both need privilege in part; without it packets are a bit late.
func preferThread() (isPreferred bool) {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	return unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1}, 0) == nil
}

// round lets out what is due in one direction, and takes in a batch of what has arrived.
func (p *pump) round(d *direction, hasArrivals bool) error {
	p.step(d, nil)
	if hasArrivals {
		if err := p.takeIn(d); err != nil {
			return err
		}
	}
	p.countsLock.Lock()
	d.counts = d.line.Counts()
	p.countsLock.Unlock()
	return nil
}

// wait sleeps until a packet arrives, one is due, or the pump is stopped. Without anything due it sleeps for ever.
func (p *pump) wait(fds []unix.PollFd) error {
	var timeout *unix.Timespec
	if wake := min(p.down.wake, p.up.wake); wake != emulate.Never {
		spec := unix.NsecToTimespec(p.sleep(wake - p.now()).Nanoseconds())
		timeout = &spec
	}
	n, err := poll(fds, timeout)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("wait for packets: %w", err)
	}
	if n <= 0 { // time is up: the kernel leaves the events of the last time in place
		clearEvents(fds)
	}
	return nil
}

// sleep is how long to sleep when a packet is due after so long: 0 in the end, so that rounds follow each other.
func (p *pump) sleep(dueIn time.Duration) time.Duration {
	if p.isSpaced {
		return max(0, dueIn-lead)
	}
	return max(rest, dueIn)
}

// poll waits short times without telling Go's scheduler, which would otherwise look after the thread every 20 us and so
// burn several times the CPU that the packets need. A raw wait holds back garbage collection for at most shortWait.
func poll(fds []unix.PollFd, timeout *unix.Timespec) (int, error) {
	if timeout == nil || timeout.Nano() > shortWait.Nanoseconds() {
		return unix.Ppoll(fds, timeout, nil)
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)),
		uintptr(unsafe.Pointer(timeout)), 0, 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}

func clearEvents(fds []unix.PollFd) {
	for i := range fds {
		fds[i].Revents = 0
	}
}

func (p *pump) now() time.Duration { return time.Since(p.started) }

// takeIn reads up to a batch of packets into the line.
func (p *pump) takeIn(d *direction) error {
	for range readBatch {
		packet := p.fresh()
		n, err := unix.Read(d.from.fd, packet.Data[:packetRoom])
		if err != nil {
			p.free = append(p.free, packet)
			if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
				return nil
			}
			return fmt.Errorf("read from a TUN device: %w", err)
		}
		packet.Data, packet.SizeBytes = packet.Data[:n], n
		p.step(d, packet)
	}
	return nil
}

// step moves a line up to the present and writes what left it.
func (p *pump) step(d *direction, in *emulate.Packet) {
	p.out, d.wake = d.line.Step(p.now(), in, p.out[:0])
	for _, packet := range p.out {
		if packet.Lost == emulate.NotLost {
			if _, err := unix.Write(d.to.fd, packet.Data); err != nil {
				p.badWrites.Add(1) // the device is down or refuses the packet, as a cut wire would
			}
		}
		packet.Lost = emulate.NotLost
		p.free = append(p.free, packet)
	}
}

// fresh gives an unused packet with room for the largest one.
func (p *pump) fresh() *emulate.Packet {
	if last := len(p.free) - 1; last >= 0 {
		packet := p.free[last]
		p.free = p.free[:last]
		return packet
	}
	return &emulate.Packet{Data: make([]byte, packetRoom)}
}
