package intcp

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// taken is a datagram that was sent, with its way.
type taken struct {
	from, to int
	at       time.Duration
	bytes    []byte
}

func recordTransfer(t testing.TB, c *chain, until time.Duration) (all []taken) {
	c.meddle = func(from, to int, d []byte) [][]byte {
		all = append(all, taken{from, to, c.now, bytes.Clone(d)})
		return [][]byte{d}
	}
	c.run(until, c.done)
	c.meddle = nil
	return all
}

// spoof gives a node a datagram that says it is from somebody, and counts what goes out.
func (w *world) spoof(node int, from Address, datagram []byte) (sent int) {
	var out Outbox
	w.nodes[node].Step(w.now, from, datagram, &out)
	w.nodes[node].wake = w.now
	for _, d := range out.Datagrams {
		if d.To == from {
			sent += len(d.Bytes)
		}
	}
	return sent
}

func TestStrangersGetNothing(t *testing.T) {
	c := newChain(t, 1, DefaultOptions(), 20_000_000, link(20e6, 20*ms, 0), link(20e6, 20*ms, 0))
	c.run(time.Second, nil)
	relay, before := c.nodes[1], len(c.nodes[1].places)
	in, out := 0, 0
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 2000 {
		stranger := addressOf(1000 + i)
		p := open{head: head{kind: kindOpen, flow: uint32(i), sequence: 1}, run: testRun, hop: uint16(rng.IntN(600)), salt: 1, length: 1e6,
			unitBytes: 1400}
		b := make([]byte, OpenBytes)
		p.put(b)
		sent := c.spoof(1, stranger, b)
		require.LessOrEqual(t, sent, refusedBytes)
		in, out = in+len(b), out+sent
		interest := interest{head: head{kind: kindInterest, flow: uint32(i), sequence: 9}, rateKbps: 1e6, ttl: 255,
			ranges: []byteRange{{0, 1 << 20}}}
		b = make([]byte, interest.size())
		interest.put(b)
		require.Zero(t, c.spoof(1, stranger, b))
	}
	require.LessOrEqual(t, out, DefaultPolicy().MaxRefusals*refusedBytes)
	require.Less(t, out, in/20)
	require.Len(t, relay.places, before)
	require.Equal(t, 1, relay.Counts().Flows)
	require.EqualValues(t, 2000, relay.Counts().Strangers)
}

// TestRefusalsAreSoManyInAnySecond, however strangers' OPENs fall into it.
func TestRefusalsAreSoManyInAnySecond(t *testing.T) {
	n, b, most := newNode(0, DefaultPolicy()), strangersOpen(), DefaultPolicy().MaxRefusals
	var refusedAt []time.Duration
	for now := 500 * ms; now < 4*time.Second; now += 300 * time.Microsecond {
		var out Outbox
		n.receive(now, addressOf(9), b, &out)
		for range out.Datagrams {
			refusedAt = append(refusedAt, now)
		}
	}
	for i := range len(refusedAt) - most {
		require.GreaterOrEqual(t, refusedAt[i+most]-refusedAt[i], time.Second)
	}
	require.Greater(t, len(refusedAt), 3*most)
}

// TestReflection: whoever knows a key but does not receive at its address gets cookies alone, smaller than what it sent.
func TestReflection(t *testing.T) {
	c := newChain(t, 1, DefaultOptions(), 20_000_000, link(20e6, 20*ms, 0))
	all := recordTransfer(t, c, time.Second)
	victim := addressOf(4444)
	for _, d := range all {
		if d.to == 1 {
			require.LessOrEqual(t, c.spoof(1, victim, d.bytes), len(d.bytes), "kind %d", d.bytes[1])
		}
	}
	require.Equal(t, 1, c.nodes[1].Counts().Flows, "no flow for the victim")
}

func TestReplaysAreDropped(t *testing.T) {
	c := newChain(t, 1, DefaultOptions(), 20_000_000, link(20e6, 20*ms, 0), link(20e6, 20*ms, 0))
	all := recordTransfer(t, c, 2*time.Second)
	sent, _ := c.nodes[1].ContentCounts(testRun, testName)
	flows := c.nodes[1].Counts().Flows
	for _, d := range all {
		if d.to == 1 && d.at < c.now-200*ms { // what still flies would be new
			var out Outbox
			c.nodes[1].receive(c.now, addressOf(d.from), d.bytes, &out)
			require.LessOrEqual(t, len(out.Datagrams), 1)
		}
	}
	after, _ := c.nodes[1].ContentCounts(testRun, testName)
	require.Equal(t, sent.Arrived, after.Arrived)
	require.Equal(t, sent.Offered, after.Offered)
	require.Equal(t, flows, c.nodes[1].Counts().Flows)
	c.run(60*time.Second, c.done)
	c.requireComplete()
}

// TestPoisonIsNotKept: data with a wrong tag, of another neighbour, or not asked for does not enter a cache.
func TestPoisonIsNotKept(t *testing.T) {
	c := newChain(t, 1, DefaultOptions(), 20_000_000, link(20e6, 20*ms, 0), link(20e6, 20*ms, 0))
	poison := bytes.Repeat([]byte{0xee}, MaxUnitBytes)
	c.meddle = func(from, to int, d []byte) [][]byte {
		if from != 2 || kind(d[1]) != kindData || len(d) < MaxDatagramBytes {
			return [][]byte{d}
		}
		forged := bytes.Clone(d)
		forged[11]++ // the next sequence
		copy(forged[dataBytes:], poison)
		return [][]byte{forged, d}
	}
	c.run(60*time.Second, c.done)
	c.requireComplete()
	require.NotZero(t, c.nodes[1].HopCounts(testRun).Forged)

	p := c.nodes[1].places[placeKey{run: testRun, name: testName}]
	unasked := p.counts.Unasked
	p.held.wipe()
	p.arrive(c.now, 5, poison)
	require.Equal(t, unasked+1, p.counts.Unasked)
	require.False(t, p.held.has(5))
}

// TestWrongContentEndsTheRun: a relay that has the key and changes bytes is noticed by the consumer.
func TestWrongContentEndsTheRun(t *testing.T) {
	c := newChain(t, 1, DefaultOptions(), 2_000_000, link(20e6, 20*ms, 0), link(20e6, 20*ms, 0))
	c.meddle = func(from, _ int, d []byte) [][]byte {
		if from == 1 && kind(d[1]) == kindData && len(d) > 1000 {
			d = bytes.Clone(d)
			d[700] ^= 1
		}
		return [][]byte{d}
	}
	c.run(60*time.Second, c.done)
	state, _ := c.consumer.State()
	require.Contains(t, state, "content_wrong")
	require.Contains(t, state, "from hop 1")
}

func TestSilenceEndsTheRate(t *testing.T) {
	c := newChain(t, 1, DefaultOptions(), 1<<40, link(20e6, 20*ms, 0))
	c.run(3*time.Second, nil)
	c.meddle = func(from, _ int, d []byte) [][]byte {
		if from == 0 {
			return nil // its interests are lost from now on
		}
		return [][]byte{d}
	}
	c.run(c.now+200*ms, nil)
	before, _ := c.nodes[1].ContentCounts(testRun, testName)
	c.run(c.now+5*time.Second, nil)
	after, _ := c.nodes[1].ContentCounts(testRun, testName)
	require.LessOrEqual(t, after.Sent+after.Again-before.Sent-before.Again, uint64(51), "a packet each 100 ms")
}

func TestPolicyLimitsWhatIsAsked(t *testing.T) {
	c := newChain(t, 1, DefaultOptions(), 1<<40, link(20e6, 20*ms, 0))
	c.nodes[1].policy.MaxRateBps = 5e6
	c.run(3*time.Second, nil)
	require.InDelta(t, ceiling(5e6), c.over(5*time.Second), 0.02*5e6)

	w := newWorld(t, 3)
	w.begin(testRun, DefaultOptions())
	w.nodes[2].policy.MaxFlows = 1
	content := Content{Run: testRun, Name: testName, Length: 1 << 30, UnitBytes: MaxUnitBytes}
	require.NoError(t, w.nodes[2].Publish(content, Stream{Seed: 1}, content.Length))
	for i := range 2 {
		w.join(i, 2, link(20e6, 20*ms, 0), 1)
		w.neighbours(testRun, i, 2)
	}
	first, second := w.consume(0, content, 1), w.consume(1, content, 1)
	w.run(time.Second, nil)
	a, _ := first.State()
	b, _ := second.State()
	require.ElementsMatch(t, []string{"", "refused: too_many_flows"}, []string{a, b})
}

// Each of three neighbours has a key, and one flow was ordered: they share its rate.
func TestMoreFlowsThanOrderedGetNoMoreTogether(t *testing.T) {
	const most = 5e6
	w := newWorld(t, 4)
	w.begin(testRun, DefaultOptions())
	w.nodes[3].policy.MaxRateBps, w.nodes[3].policy.RatedFlows = most, 1
	content := Content{Run: testRun, Name: testName, Length: 1 << 30, UnitBytes: MaxUnitBytes}
	require.NoError(t, w.nodes[3].Publish(content, Stream{Seed: 1}, content.Length))
	var consumers []*Consumer
	for i := range 3 {
		w.join(i, 3, link(20e6, 20*ms, 0), 1)
		w.neighbours(testRun, i, 3)
		consumers = append(consumers, w.consume(i, content, 1))
	}
	arrived := func() (of []float64, sum float64) {
		for _, consumer := range consumers {
			of = append(of, float64(consumer.Counts().ArrivedBytes)*8)
			sum += of[len(of)-1]
		}
		return of, sum
	}
	w.run(3*time.Second, nil)
	before, sumBefore := arrived()
	w.run(8*time.Second, nil)
	after, sumAfter := arrived()
	require.InDelta(t, ceiling(most), (sumAfter-sumBefore)/5, 0.05*most)
	for i := range after {
		require.InDelta(t, ceiling(most)/3, (after[i]-before[i])/5, 0.1*most, "flow %d", i)
	}
}

func TestACacheKeepsWithinItsLimitAndIsWiped(t *testing.T) {
	c := newChain(t, 1, DefaultOptions(), 5_000_000, link(20e6, 20*ms, 0), link(50e6, 20*ms, 0))
	c.nodes[1].cache.limitBytes = 1 << 20
	c.run(60*time.Second, c.done)
	c.requireComplete()
	require.NotZero(t, c.nodes[1].Counts().Evicted)
	require.LessOrEqual(t, c.nodes[1].Counts().HeldBytes, 1<<20)
	place := c.nodes[1].places[placeKey{run: testRun, name: testName}]
	held := place.held.blocks
	var some []byte
	for _, b := range held {
		some = b.bytes
	}
	c.nodes[1].End(testRun)
	require.Zero(t, c.nodes[1].Counts().HeldBytes)
	require.Empty(t, bytes.Trim(some, "\x00"))
	require.Empty(t, c.nodes[1].readers)
	require.Empty(t, c.nodes[1].up)
}

// TestARunGoesOnAmidStrangers: a flood of strangers' OPENs changes nothing for a run; its cost is BenchmarkStranger's.
func TestARunGoesOnAmidStrangers(t *testing.T) {
	c := newChain(t, 1, DefaultOptions(), 1<<40, link(20e6, 20*ms, 0), link(20e6, 20*ms, 0))
	c.run(2*time.Second, nil)
	b := strangersOpen()
	var out Outbox
	before, from := c.consumer.Counts().ArrivedBytes, c.now
	for i := range 1000 {
		c.run(c.now+ms, nil)
		for range 100 {
			out.Reset()
			c.nodes[1].receive(c.now, addressOf(5000+i), b, &out)
		}
	}
	got := float64(c.consumer.Counts().ArrivedBytes-before) * 8 / (c.now - from).Seconds()
	require.Greater(t, got, 0.95*ceiling(20e6))
	require.EqualValues(t, 100_000, c.nodes[1].Counts().Strangers)
}

func strangersOpen() []byte {
	p := open{head: head{kind: kindOpen, flow: 9, sequence: 1}, run: testRun, hop: 1, salt: 1, length: 1e6, unitBytes: 1400}
	b := make([]byte, OpenBytes)
	p.put(b)
	return b
}

// TestACallNeedsTheHopsKey: a neighbour that says that it has the place of another one is believed only with the key, and
// whoever repeats such a call gains an OPEN a second.
func TestACallNeedsTheHopsKey(t *testing.T) {
	c := newChain(t, 1, DefaultOptions(), 200_000_000, link(20e6, 20*ms, 0))
	c.run(time.Second, nil)
	origin, consumer := c.nodes[1], c.nodes[0]
	number := hopOf(testRun, 0, 1).Number
	callers := origin.Callers(testRun, number)
	require.Len(t, callers, 1)
	var called []byte
	c.meddle = func(_, _ int, d []byte) [][]byte {
		if kind(d[1]) == kindRefused {
			called = bytes.Clone(d)
		}
		return [][]byte{d}
	}
	origin.Call(testRun, number, callers)
	c.touch(1)
	opens := func() (n int) {
		c.meddle = func(from, _ int, d []byte) [][]byte {
			if from == 0 && kind(d[1]) == kindOpen {
				n++
			}
			return [][]byte{d}
		}
		c.run(c.now+100*ms, nil)
		return n
	}
	c.run(c.now+100*ms, nil)
	require.Len(t, called, refusedBytes)
	c.run(c.now+2*time.Second, nil)
	for range 50 {
		c.spoof(0, addressOf(1), called)
	}
	require.LessOrEqual(t, opens(), 1)
	c.run(c.now+2*time.Second, nil)
	forged := bytes.Clone(called)
	forged[refusedBytes-1]++
	before := consumer.HopCounts(testRun).Forged
	c.spoof(0, addressOf(1), forged)
	require.Zero(t, opens())
	require.Equal(t, before+1, consumer.HopCounts(testRun).Forged)
	c.run(120*time.Second, c.done)
	c.requireComplete()
}
