package intcp

import (
	"fmt"
	"math"
	"runtime"
	"syscall"
	"testing"
	"time"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/testing/hosttest"
)

// relayBench is a relay with a neighbour on each side, whose packets are made and taken without links.
type relayBench struct {
	relay, origin, consumer *Node
	now                     time.Duration
	boxes                   [3]Outbox
	packets                 int
	spent                   time.Duration
	taken                   []Datagram
}

// exchange steps all three until nothing flies, and counts the processor's time that the relay takes.
func (r *relayBench) exchange() {
	nodes := [3]*Node{r.consumer, r.relay, r.origin}
	for i, n := range nodes {
		r.boxes[i].Reset()
		n.Step(r.now, Address{}, nil, &r.boxes[i])
	}
	for moved := true; moved; {
		moved = false
		for i := range nodes {
			r.taken = append(r.taken[:0], r.boxes[i].Datagrams...)
			r.boxes[i].Datagrams = r.boxes[i].Datagrams[:0]
			moved = moved || len(r.taken) > 0
			for to, n := range nodes {
				begin := cpuTime()
				for _, d := range r.taken {
					if nodeOf(d.To) == to {
						n.Step(r.now, addressOf(i), d.Bytes, &r.boxes[to])
						r.count(to, d.Bytes)
					}
				}
				if to == 1 {
					r.spent += cpuTime() - begin
				}
			}
		}
	}
}

func (r *relayBench) count(to int, b []byte) {
	if to == 1 && kind(b[1]) == kindData {
		r.packets++
	}
}

// cpuTime is what this thread has used: others on the machine do not count.
func cpuTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var usage syscall.Rusage
	if syscall.Getrusage(thread, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func newRelayBench(b testing.TB) *relayBench {
	w := newWorld(b, 3)
	w.begin(testRun, DefaultOptions())
	w.neighbours(testRun, 0, 1)
	w.neighbours(testRun, 1, 2)
	content := Content{Run: testRun, Name: testName, Length: 1 << 40, UnitBytes: MaxUnitBytes}
	if err := w.nodes[2].Publish(content, Stream{Seed: 1}, content.Length); err != nil {
		b.Fatal(err)
	}
	w.consume(0, content, 1)
	return &relayBench{consumer: w.nodes[0].Node, relay: w.nodes[1].Node, origin: w.nodes[2].Node}
}

// BenchmarkRelay is what a relay takes for each data packet: in, kept, and out again.
func BenchmarkRelay(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := newRelayBench(b)
	for r.packets < 60_000 { // until the cache is full
		r.now += ms / 2
		r.exchange()
	}
	r.packets, r.spent = 0, 0
	b.ReportAllocs()
	b.ResetTimer()
	for r.packets < b.N {
		r.now += ms / 2
		r.exchange()
	}
	b.ReportMetric(float64(r.spent.Nanoseconds())/float64(r.packets), "relay-ns/packet")
}

// BenchmarkCore prints what a relay takes for each data packet, and what interests take of a path's bytes.
func BenchmarkCore(b *testing.B) {
	for b.Loop() {
		relayRows(b)
		interestsRow(b)
	}
}

func relayRows(b *testing.B) {
	b.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	packets := hosttest.Size(300_000, 3_000)
	r := newRelayBench(b)
	for r.packets < 60_000 { // until the cache is full
		r.now += ms / 2
		r.exchange()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for r.packets, r.spent = 0, 0; r.packets < packets; {
		r.now += ms / 2
		r.exchange()
	}
	runtime.ReadMemStats(&after)
	took, allocations := float64(r.spent.Nanoseconds())/float64(r.packets), float64(after.Mallocs-before.Mallocs)/float64(r.packets)
	hosttest.Row{
		Name: "INTCP relay without sockets, a packet", Value: took, Unit: "ns", Goal: "<= 1000",
		Remark: "in, checked, kept, and out again, with the interests for it",
	}.Print()
	hosttest.Row{
		Name: "the same, allocations", Value: math.Floor(1000*allocations) / 1000, Unit: "a packet", Goal: "<= 0",
		Remark: "of origin, relay and consumer together, to three decimals",
	}.Print()
}

// interestsRow has them counted in virtual time, with all headers.
func interestsRow(b *testing.B) {
	b.Helper()
	lasting := hosttest.Size(10*time.Second, time.Second)
	lossy := link(20e6, 100*ms, 0.05)
	lossy.Up.Loss.IndependentRatio = 0.05
	paths := []struct {
		name string
		hops []emulate.Profile
	}{
		{"5 Mb/s, RTT 20 ms", repeated(1, link(5e6, 20*ms, 0))},
		{"20 Mb/s, RTT 20 ms", repeated(1, link(20e6, 20*ms, 0))},
		{"20 Mb/s, RTT 300 ms", repeated(1, link(20e6, 300*ms, 0))},
		{"20 Mb/s, RTT 100 ms, 5 % lost both ways", repeated(1, lossy)},
		{"15 hops of 20 Mb/s and 7 ms", repeated(15, link(20e6, 7*ms, 1e-5))},
	}
	worst, remark := 0.0, ""
	for _, path := range paths {
		c := newChain(b, 1, DefaultOptions(), 1<<40, path.hops...)
		c.run(lasting, nil)
		most := 0.0
		for i := range path.hops {
			most = max(most, float64(c.way(i, i+1).sizes[kindInterest])/float64(c.way(i+1, i).sizes[kindData]))
		}
		worst = max(worst, most)
		remark += fmt.Sprintf("; %s: %.4f", path.name, most)
	}
	hosttest.Row{Name: "INTCP interests beside the bytes of data", Value: worst, Unit: "ratio", Goal: "<= 0.02",
		Remark: "in virtual time" + remark}.Print()
}

// BenchmarkStranger is what a node takes to refuse an OPEN of somebody without the key.
func BenchmarkStranger(b *testing.B) {
	w := newWorld(b, 2)
	w.begin(testRun, DefaultOptions())
	w.neighbours(testRun, 0, 1)
	packet := strangersOpen()
	var out Outbox
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		w.nodes[1].receive(time.Second, addressOf(9), packet, &out)
	}
}

func TestAPacketNeedsNoMemory(t *testing.T) {
	r := newRelayBench(t)
	for r.packets < 60_000 {
		r.now += ms / 2
		r.exchange()
	}
	before := r.packets
	allocs := testing.AllocsPerRun(200, func() {
		r.now += ms / 2
		r.exchange()
	})
	perStep := float64(r.packets-before) / 201
	if perStep < 10 || allocs/perStep > 0.001 {
		t.Fatalf("%.1f allocations for %.0f packets", allocs, perStep)
	}
}
