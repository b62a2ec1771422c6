package intcp

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
)

const (
	ms      = time.Millisecond
	testRun = 7
)

var testName = Name{'c', 'o', 'n', 't', 'e', 'n', 't'}

// world is nodes joined by emulated lines, in virtual time.
type world struct {
	t     testing.TB
	now   time.Duration
	nodes []*worldNode
	ways  []*way
	out   Outbox
	steps int
	idle  int // of them, those in which nothing came and nothing was sent
	sent  int // datagrams
	// sharing are the ways of nodes that have none of their own.
	sharing map[ends]*way
	// outside are addresses that nodes have for others instead of their own. What is sent to an address that nobody has is lost.
	outside map[int]Address
	// meddle, if there, sees each datagram before it enters a way, and gives what enters.
	meddle func(from, to int, datagram []byte) [][]byte
}

type worldNode struct {
	*Node
	// behind is by how much its clock is behind the world's.
	behind            time.Duration
	wake              time.Duration
	bytesIn, bytesOut uint64
	cameIn, wentOut   payload
	gone              bool
}

// payload is what packets of data carry that enter or leave a node.
type payload struct{ packets, bytes uint64 }

func (p *payload) count(datagram []byte) {
	if len(datagram) > dataBytes && kind(datagram[1]) == kindData {
		p.packets++
		p.bytes += uint64(len(datagram) - dataBytes)
	}
}

type way struct {
	from, to int
	line     *emulate.Line
	wake     time.Duration
	out      []*emulate.Packet
	isCut    bool
	sizes    [7]uint64 // bytes by kind
	packets  uint64
	// shared: which packets are not between from and to, but of others that share the way.
	shared map[*emulate.Packet]ends
}

type ends struct{ from, to int }

func addressOf(node int) (a Address) {
	binary.BigEndian.PutUint32(a[:], uint32(node))
	return a
}

func nodeOf(a Address) int { return int(binary.BigEndian.Uint32(a[:])) }

func keyOf(hop int) Key { return Key{1: byte(hop), 2: byte(hop >> 8), 15: 9} }

func newNode(number int, policy Policy) *worldNode {
	config := Config{Secret: [16]byte{byte(number), 1}, Salt: uint32(number+1) << 16, Policy: policy}
	return &worldNode{Node: New(config)}
}

func newWorld(t testing.TB, nodes int) *world {
	w := &world{t: t, sharing: map[ends]*way{}}
	for i := range nodes {
		w.nodes = append(w.nodes, newNode(i, DefaultPolicy()))
	}
	return w
}

// join puts a link between a downstream and an upstream node: down carries data.
func (w *world) join(downNode, upNode int, profile emulate.Profile, seed uint64) (data, interests *way) {
	network := emulate.New(profile, seed)
	data = &way{from: upNode, to: downNode, line: network.Line(emulate.Gateway, emulate.Receiver), wake: never,
		shared: map[*emulate.Packet]ends{}}
	interests = &way{from: downNode, to: upNode, line: network.Line(emulate.Receiver, emulate.Gateway), wake: never,
		shared: map[*emulate.Packet]ends{}}
	w.ways = append(w.ways, data, interests)
	return data, interests
}

// hop is the neighbourhood of two nodes in a run; its key and number are those of the nodes.
func hopOf(run uint64, downNode, upNode int) Hop {
	number := uint16(downNode*256 + upNode)
	return Hop{Run: run, Number: number, Key: keyOf(int(number)), Peer: addressOf(upNode)}
}

func (w *world) neighbours(run uint64, downNode, upNode int) {
	require.NoError(w.t, w.nodes[upNode].Serve(hopOf(run, downNode, upNode)))
	require.NoError(w.t, w.nodes[downNode].Ask(hopOf(run, downNode, upNode)))
	w.touch(downNode)
}

func (w *world) begin(run uint64, options Options) {
	for _, n := range w.nodes {
		require.NoError(w.t, n.Begin(run, options))
	}
}

func (w *world) touch(node int) { w.nodes[node].wake = w.now }

// share has two more nodes use the link of others.
func (w *world) share(downNode, upNode int, data, interests *way) {
	w.sharing[ends{upNode, downNode}], w.sharing[ends{downNode, upNode}] = data, interests
}

func (w *world) way(from, to int) *way {
	if way := w.sharing[ends{from, to}]; way != nil {
		return way
	}
	for _, way := range w.ways {
		if way.from == from && way.to == to && !way.isCut {
			return way
		}
	}
	return nil
}

// cut ends a link: what is in the air is lost.
func (w *world) cut(a, b int) {
	for _, way := range w.ways {
		if way.from == a && way.to == b || way.from == b && way.to == a {
			way.isCut, way.wake = true, never
		}
	}
}

// restore lets a cut way carry again.
func (w *world) restore(a, b int) {
	for _, way := range w.ways {
		if way.from == a && way.to == b || way.from == b && way.to == a {
			way.isCut = false
		}
	}
}

func (w *world) step(node int, from Address, datagram []byte) {
	n := w.nodes[node]
	if n.gone {
		n.wake = never
		return
	}
	if w.steps++; w.steps > w.mostSteps() {
		w.t.Fatalf("a storm of timers: %d steps by %v", w.steps, w.now)
	}
	w.out.Reset()
	n.bytesIn += uint64(len(datagram))
	n.cameIn.count(datagram)
	if n.wake = n.Step(w.now-n.behind, from, datagram, &w.out); n.wake != never {
		n.wake += n.behind
	}
	if w.sent += len(w.out.Datagrams); datagram == nil && len(w.out.Datagrams) == 0 {
		w.idle++
	}
	for _, d := range w.out.Datagrams {
		n.bytesOut += uint64(len(d.Bytes))
		n.wentOut.count(d.Bytes)
		if to := w.at(d.To); to >= 0 {
			w.send(node, to, d.Bytes)
		}
	}
}

// seen is the address by which others know a node.
func (w *world) seen(node int) Address {
	if a, isOther := w.outside[node]; isOther {
		return a
	}
	return addressOf(node)
}

// at is the node that has an address; -1: none.
func (w *world) at(a Address) int {
	for node, other := range w.outside {
		if other == a {
			return node
		}
	}
	if node := nodeOf(a); node < len(w.nodes) && w.seen(node) == a {
		return node
	}
	return -1
}

// mostSteps is far above what nodes may need: a million at first, and twenty for each packet.
func (w *world) mostSteps() int {
	most := 1_000_000
	for _, way := range w.ways {
		most += 20 * int(way.packets)
	}
	return most
}

func (w *world) send(from, to int, datagram []byte) {
	all := [][]byte{datagram}
	if w.meddle != nil {
		all = w.meddle(from, to, datagram)
	}
	way := w.way(from, to)
	if way == nil {
		return
	}
	for _, d := range all {
		way.sizes[d[1]%7] += uint64(len(d) + headerBytes)
		way.packets++
		packet := &emulate.Packet{Data: append([]byte(nil), d...), SizeBytes: len(d) + headerBytes}
		if way.from != from || way.to != to {
			way.shared[packet] = ends{from, to}
		}
		way.step(w.now, packet)
	}
}

func (v *way) step(now time.Duration, in *emulate.Packet) {
	var wake time.Duration
	v.out, wake = v.line.Step(now, in, v.out)
	v.wake = wake
	if len(v.out) > 0 {
		v.wake = now
	}
}

// run goes from event to event until a moment, or until done says so.
func (w *world) run(until time.Duration, done func() bool) {
	for done == nil || !done() {
		next, node, via := until, -1, -1
		for i, n := range w.nodes {
			if n.wake < next {
				next, node = n.wake, i
			}
		}
		for i, v := range w.ways {
			if v.wake < next {
				next, node, via = v.wake, -1, i
			}
		}
		if node < 0 && via < 0 {
			w.now = until
			return
		}
		w.now = max(w.now, next)
		if via >= 0 {
			w.carry(w.ways[via])
		} else {
			w.step(node, Address{}, nil)
		}
	}
}

// carry hands over what has come through a way.
func (w *world) carry(v *way) {
	v.step(w.now, nil)
	out := v.out
	v.out = nil
	for _, p := range out {
		of, isShared := v.shared[p]
		if !isShared {
			of = ends{v.from, v.to}
		}
		delete(v.shared, p)
		if p.Lost == emulate.NotLost {
			w.step(of.to, w.seen(of.from), p.Data)
		}
	}
	v.out = out[:0]
	if v.wake <= w.now {
		v.step(w.now, nil)
	}
}

// direction is one way of a link of a rate with a delay.
func direction(bps float64, oneWay time.Duration, lossRatio float64, queuePackets int) emulate.Direction {
	return emulate.Direction{
		Rate:  emulate.Rate{ConstantBps: bps},
		Queue: emulate.Queue{LimitBytes: queuePackets * 1500},
		Loss:  emulate.Loss{IndependentRatio: lossRatio},
		Delay: emulate.Delay{BaseMs: float64(oneWay) / float64(ms)},
	}
}

// link is a hop of a rate and a round-trip time, with a queue of 1,000 packets.
func link(bps float64, rtt time.Duration, lossRatio float64) emulate.Profile {
	return emulate.Profile{Down: direction(bps, rtt/2, lossRatio, 1000), Up: direction(bps, rtt/2, 0, 1000)}
}

// chain is a path from the consumer, node 0, to the origin, the last one, over hops in that order.
type chain struct {
	*world
	content  Content
	consumer *Consumer
	route    []int // nodes from the consumer to the origin
}

func newChain(t testing.TB, seed uint64, options Options, length uint64, hops ...emulate.Profile) *chain {
	w := newWorld(t, len(hops)+1)
	w.begin(testRun, options)
	for i, hop := range hops {
		w.join(i, i+1, hop, seed*1000+uint64(i))
		w.neighbours(testRun, i, i+1)
	}
	c := &chain{world: w, content: Content{Run: testRun, Name: testName, Length: length, UnitBytes: MaxUnitBytes}}
	require.NoError(t, w.nodes[len(hops)].Publish(c.content, Stream{Seed: seed}, length))
	c.consumer = w.consume(0, c.content, seed)
	for i := range w.nodes {
		c.route = append(c.route, i)
	}
	return c
}

func (w *world) consume(node int, content Content, seed uint64) *Consumer {
	consumer, err := w.nodes[node].Consume(w.now, content, Stream{Seed: seed})
	require.NoError(w.t, err)
	w.touch(node)
	return consumer
}

func (c *chain) done() bool {
	state, _ := c.consumer.State()
	return state != ""
}

// over runs for a time and gives the payload's rate in that time, in bits a second.
func (c *chain) over(time time.Duration) float64 {
	before, from := c.consumer.Counts().ArrivedBytes, c.now
	c.run(c.now+time, c.done)
	return float64(c.consumer.Counts().ArrivedBytes-before) * 8 / (c.now - from).Seconds()
}

func (c *chain) requireComplete() {
	c.t.Helper()
	state, _ := c.consumer.State()
	require.Equal(c.t, "complete", state)
	require.Equal(c.t, c.content.Length, c.consumer.Counts().InOrderBytes)
	c.requireConserved()
}

// requireConserved: what came to each node is accounted for, and so is what it offered.
func (w *world) requireConserved() {
	w.t.Helper()
	for i, n := range w.nodes {
		for _, p := range n.places {
			c, waiting := p.counts, 0
			for _, r := range p.readers {
				waiting += r.line.total
			}
			require.Equal(w.t, c.Arrived, c.Kept+c.Consumed+c.Duplicate+c.Unasked+c.NoRoom, "node %d: %+v", i, c)
			require.Equal(w.t, c.Offered, c.Sent+c.Evicted+c.Dropped+uint64(waiting), "node %d: %+v", i, c)
			require.Equal(w.t, p.pending.units(), p.nPending)
		}
	}
}

// ceiling is the payload's share of a rate of IP packets.
func ceiling(bps float64) float64 { return bps * MaxUnitBytes / (MaxDatagramBytes + headerBytes) }

func (c *chain) show() string {
	text := fmt.Sprintf("%+v", c.consumer.Counts())
	for i, n := range c.nodes {
		text += fmt.Sprintf("\n%d %+v", i, n.HopCounts(testRun))
	}
	return text
}
