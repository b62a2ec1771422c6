package pump

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"downlink/agents/internal/lab/emulate"
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

// Pump carries packets between TUN devices along the ways of a network. It is the only clock of the emulation.
type Pump struct {
	options    Options
	ways       []way
	draining   []way // of earlier courses, until what was inside is out
	nudge      int   // eventfd
	stopping   atomic.Bool
	next       atomic.Pointer[course] // to be begun
	course     *course                // that is logged
	sitting    *sitting               // nil: nobody has the link's sites
	relaying   *relaying              // nil: no run has them
	routers    *routers               // nil: routers are no hosts
	branches   *branches              // nil: there are no further receivers
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

func leavesOneByOne(profile emulate.Profile) bool { return profile.PeakBps() <= spacedBps }

// Options say what link a pump carries packets over.
type Options struct {
	Name    string
	Profile emulate.Profile
	Seed    uint64
	Gateway Device
	// Receiver is the one at the link's end; Further are those behind it.
	Receiver Host
	Further  []Host
	// Routers are those between two hops that are hosts, from the gateway on; none of them is, or all are.
	Routers []Host
	// RelayHost is where relays at the link's sites are reached; the zero address: nowhere.
	RelayHost netip.Addr
	// IsSpaced: packets leave one by one, as they do over slower links anyway, however fast the link is.
	IsSpaced bool
	// Log is where the link's log goes; nil for nowhere.
	Log io.Writer
}

// Start starts a pump on a thread of its own. It ends with Stop, or when a device fails.
func Start(options Options) (*Pump, error) {
	nudge, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make the pump's event: %w", err)
	}
	options.IsSpaced = options.IsSpaced || leavesOneByOne(options.Profile)
	p := &Pump{
		options: options, nudge: nudge, started: time.Now(), ended: make(chan struct{}), orders: make(chan func(), 4),
	}
	network := emulate.New(options.Profile, options.Seed)
	devices := map[string]Device{emulate.Gateway: options.Gateway, emulate.Receiver: options.Receiver.Device}
	for i, w := range network {
		p.ways = append(p.ways, way{Way: w, index: i, from: devices[w.From], to: devices[w.To], wake: emulate.Never})
	}
	if len(options.Routers) > 0 {
		p.seat(options.Routers, network)
	}
	if len(options.Further) > 0 {
		p.fork(options.Further, network)
	}
	if options.Log != nil {
		p.log = startLog(options.Log)
	}
	go func() {
		p.err = p.run()
		close(p.ended)
		p.endAll()
	}()
	return p, nil
}

// Stop ends the pump and waits for it, and for the link's log. Packets on their way are gone.
func (p *Pump) Stop() error {
	p.stopping.Store(true)
	p.wakeUp()
	<-p.ended
	_ = unix.Close(p.nudge)
	if p.log == nil {
		return p.err
	}
	return errors.Join(p.err, p.log.close())
}

// Began is when the pump started, and with it the link's first course.
func (p *Pump) Began() time.Time { return p.started }

// Ended is closed when the pump ends, by Stop or by itself; Stop then says why.
func (p *Pump) Ended() <-chan struct{} { return p.ended }

// Thread is the pump's in the kernel; 0: it does not run yet.
func (p *Pump) Thread() int { return int(p.thread.Load()) }

// wakeUp lets the pump look at what it was told.
func (p *Pump) wakeUp() {
	_, _ = unix.Write(p.nudge, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // fails only when the pump is to wake up anyway
}

// Counts returns what the line between two places did so far.
func (p *Pump) Counts(from, to string) (counts emulate.Counts) {
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

func (p *Pump) run() error {
	runtime.LockOSThread()
	p.thread.Store(int32(unix.Gettid()))
	budget := budget{isNeeded: PreferThread()}
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

// PreferThread lets the calling thread, as that of a pump, run before other threads when it has something to do, and its timers
// fire when they are due: the kernel otherwise gathers timers within 50 us. Both need privilege in part; without it packets are
// a bit late.
func PreferThread() (isPreferred bool) {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	return unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1}, 0) == nil
}

// wait sleeps until a packet arrives, one is due, or the pump is stopped. Without anything due it sleeps for ever.
func (p *Pump) wait(fds []unix.PollFd) error {
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
func (p *Pump) sleep(dueIn time.Duration) time.Duration {
	if p.options.IsSpaced {
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

func (p *Pump) now() time.Duration { return time.Since(p.started) }
