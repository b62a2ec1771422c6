package netlab

import (
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/testing/hosttest"
)

const (
	gapsBps = 144e6
	// trueGap is what a packet of 1500 bytes takes at gapsBps.
	trueGap = 83333 * time.Nanosecond
)

// A control that takes the rate of a link from the gaps of its packets must find the link's rate there. Other work on
// the machine may spoil a try.
func TestPacketsLeaveOneByOneAtTheLinksRate(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	link := heldByAnother(t, benchProfile(gapsBps, 20))
	sink := stampedSink(t, link)
	source := listenUDP(t, link.Hosts["sender-1"])
	var shares []float64
	for range 10 {
		gaps := measureGaps(t, sink, source, 300)
		shares = append(shares, shareNear(gaps, trueGap, trueGap/4))
		if slices.Max(shares) >= 0.5 {
			return
		}
	}
	t.Fatalf("no more than these shares of the gaps are within a quarter of %v: %.2f", trueGap, shares)
}

// BenchmarkSpacing keeps a queue before a line of 144 Mb/s and looks at the gaps between packets where they arrive.
func BenchmarkSpacing(b *testing.B) {
	link := heldByAnother(b, benchProfile(gapsBps, 20))
	sink := stampedSink(b, link)
	source := listenUDP(b, link.Hosts["sender-1"])
	for b.Loop() {
		began, busyBefore := time.Now(), busyOf(b, link.Pid)
		gaps := measureGaps(b, sink, source, hosttest.Size(2*1000, 200))
		quantile := func(percent int) float64 { return gaps[len(gaps)*percent/100].Seconds() / trueGap.Seconds() }
		hosttest.Row{
			Name: "emulator, gaps at 144 Mb/s, median", Value: 100 * math.Abs(quantile(50)-1), Unit: "% off", Goal: "<= 20",
			Remark: fmt.Sprintf("of 83 us: p5 %.2f, p25 %.2f, p75 %.2f, p95 %.2f times; %.0f %% within a quarter; %.2f cores",
				quantile(5), quantile(25), quantile(75),
				quantile(95), 100*shareNear(gaps, trueGap, trueGap/4), (busyOf(b, link.Pid)-busyBefore).Seconds()/time.Since(began).Seconds()),
		}.Print()
	}
}

// measureGaps sends a bit more than the line carries, a millisecond's worth at a time, and sorts the gaps of what arrives.
func measureGaps(t testing.TB, sink *net.UDPConn, source net.PacketConn, milliseconds int) (gaps []time.Duration) {
	packets := milliseconds * (perBurst + 1)
	received := make(chan map[uint64]int64, 1)
	go func() { received <- receiveStamps(sink, packets) }()
	sendPaced(t, source, sink.LocalAddr(), packets, perBurst+1)
	stamps := <-received
	for i := uint64(1); i < uint64(packets); i++ {
		at, ok := stamps[i]
		before, okBefore := stamps[i-1]
		if ok && okBefore {
			gaps = append(gaps, time.Duration(at-before))
		}
	}
	slices.Sort(gaps)
	return gaps
}

func shareNear(values []time.Duration, wanted, tolerance time.Duration) float64 {
	near := 0
	for _, v := range values {
		if v >= wanted-tolerance && v <= wanted+tolerance {
			near++
		}
	}
	return float64(near) / float64(len(values))
}

// busyOf is the CPU time that all threads of a process have used.
func busyOf(t testing.TB, pid int) (sum time.Duration) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	require.NoError(t, err)
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		ns, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		require.NoError(t, err)
		sum += time.Duration(ns)
	}
	return sum
}
