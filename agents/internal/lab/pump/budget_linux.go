package pump

import (
	"time"

	"golang.org/x/sys/unix"
)

// budget keeps a real-time thread below the share of a core that the kernel grants such threads: beyond 95 %
// (sched_rt_runtime_us) it stops them for the rest of a second, 50 ms in which no packet would leave. Short pauses
// before that cost a packet a millisecond at most.
type budget struct {
	isNeeded  bool // a thread without real-time priority is never stopped
	began     time.Duration
	busyBegan time.Duration
}

const (
	budgetWindow = 10 * time.Millisecond
	budgetRatio  = 0.9
)

// keep sleeps when the thread has used more than its share since the last window began.
func (b *budget) keep(now time.Duration) {
	if !b.isNeeded || now < b.began+budgetWindow {
		return
	}
	if pause := b.pause(now, threadBusy()); pause > 0 {
		spec := unix.NsecToTimespec(pause.Nanoseconds())
		_ = unix.Nanosleep(&spec, nil) // a signal that ends it early costs a bit of budget
	}
}

// pause is how long to sleep so that the share holds over the window and the pause, and begins a new window.
func (b *budget) pause(now, busy time.Duration) time.Duration {
	since, used := now-b.began, busy-b.busyBegan
	pause := max(0, time.Duration(float64(used)/budgetRatio)-since)
	b.began, b.busyBegan = now+pause, busy
	return pause
}

// threadBusy is the CPU time of the calling thread.
func threadBusy() time.Duration {
	var spec unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &spec) // the clock is always there
	return time.Duration(spec.Nano())
}
