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

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/pathrelay"
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

// pump carries packets between TUN devices along the ways of a network. It is the only clock of the emulation.
type pump struct {
	ways       []way
	draining   []way // of earlier courses, until what was inside is out
	isSpaced   bool  // packets leave one by one
	nudge      int   // eventfd
	stopping   atomic.Bool
	next       atomic.Pointer[course] // to be begun
	course     *course                // that is logged
	sitting    *sitting               // nil: nobody has the link's sites
	relaying   *relaying              // nil: no run has them
	routers    *routers               // nil: routers are no hosts
	branches   *branches              // nil: there are no further receivers
	relayHost  [4]byte                // where relays are reached; zero: nowhere
	orders     chan func()            // of other threads
	free       []*emulate.Packet
	out        []*emulate.Packet
	rows       []logRow
	started    time.Time
	badWrites  atomic.Uint64
	noteLate   func(late time.Duration) // of each packet that leaves, for benchmarks; nil: nobody wants to know
	note       func(Passage)            // nil: nobody wants to know
	alert      alertness
	log        *linkLog      // nil: none is written
	nextLook   time.Duration // on the pump's clock, as all that is not a way's
	logBegan   time.Duration // when the present course began, or the link came up
	thread     atomic.Int32  // of the kernel
	countsLock sync.Mutex
	ended      chan struct{} // closed when the thread has ended, with err set
	err        error
}

// ports are the devices of a network's places, by name.
type ports map[string]tun

// way is read from one place's device, through its line, and written to another's.
type way struct {
	emulate.Way
	index    int
	from, to tun
	// zero is the line's time 0 on the pump's clock.
	zero   time.Duration
	wake   time.Duration  // on the pump's clock
	late   time.Duration  // the largest since the last look
	counts emulate.Counts // as of the last round; the line itself is the pump thread's own
	past   emulate.Counts // of the lines before
}

// Passage is a packet that comes to a way of the emulator, or is just about to be written to the way's end.
type Passage struct {
	// From and To are the way's ends.
	From, To string
	HasLeft  bool
	At       time.Time
	// Packet is from its IP header on. It is valid during the call.
	Packet []byte
}

// Note tells of every packet, on the pump's own thread. It is for tests of what measures packets.
func (l *Lab) Note(note func(Passage)) error { return l.pump.do(func() { l.pump.note = note }) }

func (p *pump) tellPassage(w *way, packet *emulate.Packet, hasLeft bool) {
	if p.note != nil {
		p.note(Passage{w.From, w.To, hasLeft, time.Now(), packet.Data})
	}
}

func leavesOneByOne(profile emulate.Profile) bool { return profile.PeakBps() <= spacedBps }

// startPump starts the pump on a thread of its own. It ends with Stop, or when a device fails. hosts and further may be nil.
func startPump(network emulate.Network, isSpaced bool, devices ports, hosts *routers, further *branches, log *linkLog) (*pump, error) {
	nudge, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make the pump's event: %w", err)
	}
	p := &pump{isSpaced: isSpaced, nudge: nudge, log: log, started: time.Now(), ended: make(chan struct{}), orders: make(chan func(), 4)}
	for i, w := range network {
		p.ways = append(p.ways, way{Way: w, index: i, from: devices[w.From], to: devices[w.To], wake: emulate.Never})
	}
	if hosts != nil {
		p.seat(hosts, network)
	}
	if further != nil {
		p.fork(further, network)
	}
	go func() {
		p.err = p.run()
		close(p.ended)
		p.endAll()
	}()
	return p, nil
}

// Carry lets an emulated link carry packets between two TUN devices, which are read without blocking, until stop is
// called. It is for tests of what runs over a link without the rest of a lab.
func Carry(profile emulate.Profile, isSpaced bool, gatewayFd, receiverFd int) (stop func() error, err error) {
	devices := ports{emulate.Gateway: {gatewayFd}, emulate.Receiver: {receiverFd}}
	p, err := startPump(emulate.New(profile, profile.Seed), isSpaced, devices, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	return p.Stop, nil
}

// Stop ends the pump and waits for it. Packets on their way are gone.
func (p *pump) Stop() error {
	p.stopping.Store(true)
	p.wakeUp()
	<-p.ended
	_ = unix.Close(p.nudge)
	return p.err
}

// wakeUp lets the pump look at what it was told.
func (p *pump) wakeUp() {
	_, _ = unix.Write(p.nudge, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // fails only when the pump is to wake up anyway
}

// Counts returns what the line between two places did so far.
func (p *pump) Counts(from, to string) (counts emulate.Counts) {
	p.countsLock.Lock()
	defer p.countsLock.Unlock()
	for i := range p.ways {
		if w := &p.ways[i]; w.From == from && w.To == to {
			counts = w.past.Plus(w.counts)
		}
	}
	for i := range p.draining {
		if w := &p.draining[i]; w.From == from && w.To == to {
			counts = counts.Plus(w.counts)
		}
	}
	return counts
}

func (p *pump) run() error {
	runtime.LockOSThread()
	p.thread.Store(int32(unix.Gettid()))
	budget := budget{isNeeded: preferThread()}
	fds := make([]unix.PollFd, 0, len(p.ways)+1)
	for i := range p.ways {
		fds = append(fds, unix.PollFd{Fd: int32(p.ways[i].from.fd), Events: unix.POLLIN})
	}
	fds = append(fds, unix.PollFd{Fd: int32(p.nudge), Events: unix.POLLIN})
	for _, device := range append(p.routers.ports(), p.branches.ports()...) { // one of them has none
		fds = append(fds, unix.PollFd{Fd: int32(device.fd), Events: unix.POLLIN})
	}
	defer p.alert.close()
	for nudged := &fds[len(p.ways)]; !p.stopping.Load(); {
		if nudged.Revents != 0 {
			_, _ = unix.Read(p.nudge, make([]byte, 8))
			p.obey()
		}
		p.turn()
		p.drain()
		for i := range p.ways {
			if err := p.round(&p.ways[i], fds[i].Revents != 0); err != nil {
				return err
			}
		}
		inside, takeIn := fds[len(p.ways)+1:], p.takeInAtRouters
		if p.branches != nil {
			takeIn = p.takeInAtBranches
		}
		if err := takeIn(inside); err != nil {
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

// round lets out what is due on one way, and takes in a batch of what has arrived.
func (p *pump) round(w *way, hasArrivals bool) error {
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

// wait sleeps until a packet arrives, one is due, or the pump is stopped. Without anything due it sleeps for ever.
func (p *pump) wait(fds []unix.PollFd) error {
	var timeout *unix.Timespec
	wake := emulate.Never
	for i := range p.ways {
		wake = min(wake, p.ways[i].wake)
	}
	for i := range p.draining {
		wake = min(wake, p.draining[i].wake)
	}
	if p.looks() {
		wake = min(wake, p.nextLook)
	}
	if p.sitting != nil {
		wake = min(wake, p.sitting.wake)
	}
	if r := p.relaying; r != nil {
		wake = min(wake, r.nextSeen, r.nextRows, r.endsAt)
	}
	if next := p.next.Load(); next != nil {
		wake = min(wake, p.momentOf(next))
	}
	if quiet, isHeld := p.alert.rest(p.now()); isHeld {
		wake = min(wake, quiet)
	}
	if wake != emulate.Never {
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
func (p *pump) takeIn(w *way) error {
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

// looks tells whether anybody wants to know what the ways are like.
func (p *pump) looks() bool { return p.log != nil || p.course != nil }

// look logs what the ways are like at each moment up to now, as if it had come in time.
func (p *pump) look(now time.Duration) {
	for ; p.looks() && p.nextLook <= now; p.nextLook += logEvery {
		p.rows = p.rows[:0]
		if p.sitting != nil {
			p.runCircuit(p.nextLook, nil, nil)
		}
		for i := range p.ways {
			w := &p.ways[i]
			var look emulate.Look
			look, p.out = w.Line.Look(p.nextLook-w.zero, p.out[:0])
			p.letOut(w, p.out)
			p.rows = append(p.rows, logRow{w.From, w.To, p.nextLook - p.logBegan, w.late, look})
			w.late = 0
		}
		if p.log != nil {
			p.log.add(p.rows)
		}
		if p.course != nil {
			p.course.mixesHops = p.course.mixesHops || p.mixesHops()
			p.course.add(p.nextLook-p.logBegan, p.rows)
		}
	}
	if p.course != nil && p.course.closed.Load() {
		p.endCourse()
	}
}

// step moves a line up to the present and writes what left it.
func (p *pump) step(w *way, in *emulate.Packet) {
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
func (p *pump) letOut(w *way, out []*emulate.Packet) {
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
func (p *pump) fresh() *emulate.Packet {
	if last := len(p.free) - 1; last >= 0 {
		packet := p.free[last]
		p.free = p.free[:last]
		return packet
	}
	return &emulate.Packet{Data: make([]byte, packetRoom)}
}
