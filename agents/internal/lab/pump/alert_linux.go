package pump

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	latencyFile = "/dev/cpu_dma_latency"
	idleDriver  = "/sys/devices/system/cpu/cpuidle/current_driver"
	// quietAfter is how long after the last packet processors may sleep deeply again: longer than pauses between probes,
	// and than slow start waits for its first window over any orbit.
	quietAfter = 2 * time.Second
)

// alertness keeps processors from sleeping deeply while packets fly. A virtual processor that halts goes back to its
// host, which may take milliseconds to run it again; a physical one may need longer than lead to leave a deep state. The
// kernel lets go of the wish with the file, however this process ends (Documentation/power/pm_qos_interface.rst).
type alertness struct {
	file  *os.File // nil: not held
	until time.Duration
	fails bool // the file cannot be had, as without root: packets are a bit late
}

// carry notes that packets fly.
func (a *alertness) carry(now time.Duration) {
	a.until = now + quietAfter
	if a.file == nil && !a.fails {
		a.file = holdProcessors()
		a.fails = a.file == nil
	}
}

// rest lets go some time after the last packet, and says when to look again.
func (a *alertness) rest(now time.Duration) (wake time.Duration, isHeld bool) {
	if a.file != nil && now >= a.until {
		a.close()
	}
	return a.until, a.file != nil
}

func (a *alertness) close() {
	if a.file != nil {
		_ = a.file.Close()
		a.file = nil
	}
}

// holdProcessors asks that each processor be awake again within so many microseconds. 0 is for guests: of their idle
// states only polling keeps the processor (kernel, drivers/cpuidle/governors/haltpoll.c).
func holdProcessors() *os.File {
	wanted := uint32(lead / time.Microsecond)
	if driver, err := os.ReadFile(idleDriver); err == nil && strings.TrimSpace(string(driver)) == "haltpoll" {
		wanted = 0
	}
	file, err := os.OpenFile(latencyFile, os.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	if _, err := file.Write([]byte{byte(wanted), 0, 0, 0}); err != nil {
		_ = file.Close()
		return nil
	}
	return file
}
