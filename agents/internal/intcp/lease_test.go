package intcp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestALeaseIsRenewedWhateverOtherFlowsOfItsHopSay: all that comes over a hop is a packet of the first flow now and then, which is
// probed for. That says nothing of the second one's rate.
func TestALeaseIsRenewedWhateverOtherFlowsOfItsHopSay(t *testing.T) {
	const first, second, relay, origin = 0, 1, 2, 3
	w := newWorld(t, 4)
	options := DefaultOptions()
	options.SharesCache = false
	w.begin(testRun, options)
	content := Content{Run: testRun, Name: testName, Length: 1 << 40, UnitBytes: MaxUnitBytes}
	require.NoError(t, w.nodes[origin].Publish(content, Stream{Seed: 4}, content.Length))
	w.join(relay, origin, link(5e6, 7*ms, 0), 1)
	w.neighbours(testRun, relay, origin)
	for i, node := range []int{first, second} {
		w.join(node, relay, link(20e6, 7*ms, 0), uint64(2+i))
		w.neighbours(testRun, node, relay)
		w.consume(node, content, 4)
		w.run(w.now+time.Second, nil)
	}
	up := w.nodes[relay].ups[testRun]
	flows := []uint32{up.flows[0].key.flow, up.flows[1].key.flow}
	stalled := w.now
	told, longest := map[uint32]time.Duration{flows[0]: stalled, flows[1]: stalled}, map[uint32]time.Duration{}
	var passed time.Duration
	w.meddle = func(from, to int, datagram []byte) [][]byte {
		h, err := parseHead(datagram)
		require.NoError(t, err)
		switch {
		case from == relay && to == origin && h.kind == kindInterest:
			longest[h.flow] = max(longest[h.flow], w.now-told[h.flow])
			told[h.flow] = w.now
		case from == origin && to == relay && (h.flow != flows[0] || w.now < passed+100*ms):
			return nil
		case from == origin && to == relay:
			passed = w.now
		}
		return [][]byte{datagram}
	}
	w.run(stalled+5*time.Second, nil)
	for _, flow := range flows {
		t.Logf("flow %d: %v", flow, max(longest[flow], w.now-told[flow]))
		require.Less(t, max(longest[flow], w.now-told[flow]), 200*ms)
	}
}
