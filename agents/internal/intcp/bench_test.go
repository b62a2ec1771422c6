package intcp

import (
	"runtime"
	"syscall"
	"testing"
	"time"
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
