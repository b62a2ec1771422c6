package intcp

import (
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
}

// exchange steps all three until nothing flies, and counts the time that the relay takes.
func (r *relayBench) exchange() {
	nodes := [3]*Node{r.consumer, r.relay, r.origin}
	for i, n := range nodes {
		r.boxes[i].Reset()
		r.step(i, n, Address{}, nil)
	}
	for moved := true; moved; {
		moved = false
		for i := range nodes {
			box := r.boxes[i]
			r.boxes[i] = Outbox{}
			for _, d := range box.Datagrams {
				r.step(nodeOf(d.To), nodes[nodeOf(d.To)], addressOf(i), d.Bytes)
				moved = true
			}
			if len(r.boxes[i].Datagrams) == 0 {
				box.Reset()
				r.boxes[i] = box
			}
		}
	}
}

func (r *relayBench) step(i int, n *Node, from Address, b []byte) {
	if i != 1 {
		n.Step(r.now, from, b, &r.boxes[i])
		return
	}
	if b != nil && kind(b[1]) == kindData {
		r.packets++
	}
	begin := time.Now()
	n.Step(r.now, from, b, &r.boxes[i])
	r.spent += time.Since(begin)
}

func newRelayBench(b *testing.B) *relayBench {
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
