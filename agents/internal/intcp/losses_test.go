package intcp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAHopThatLosesNothingCountsNoLoss: flows that begin, end, are stopped and are refused over it use its sequences, too.
func TestAHopThatLosesNothingCountsNoLoss(t *testing.T) {
	for _, rtt := range []time.Duration{20 * ms, 600 * ms} {
		t.Run(rtt.String(), func(t *testing.T) {
			c := newChain(t, 1, DefaultOptions(), 1<<40, link(20e6, rtt, 0))
			var others []*Consumer
			for i := range 6 {
				content := Content{Run: testRun, Name: Name{'o', byte(i)}, Length: 300_000 << (2 * (i % 3)), UnitBytes: MaxUnitBytes}
				if i%3 != 0 { // of the first and the fourth the origin knows nothing
					require.NoError(t, c.nodes[1].Publish(content, Stream{Seed: 2}, content.Length))
				}
				others = append(others, c.consume(0, content, 2))
				c.run(c.now+4*rtt, nil)
				if i%3 == 2 {
					others[i].Stop(c.now)
					c.touch(0)
				}
			}
			c.run(c.now+10*time.Second, nil)
			for i, want := range []string{"refused: no_content", "complete", "stopped", "refused: no_content", "complete", "stopped"} {
				state, _ := others[i].State()
				require.Equal(t, want, state)
			}
			counts := c.nodes[0].HopCounts(testRun)
			require.Greater(t, counts.Packets, uint64(10_000))
			require.Zero(t, counts.Lost)
			require.Zero(t, counts.Resent)
			require.Zero(t, c.way(1, 0).line.Counts().Lost)
		})
	}
}

// TestARefusalIsTakenOnce: whoever repeats one, or a CLOSE, changes nothing.
func TestARefusalIsTakenOnce(t *testing.T) {
	c := newChain(t, 1, DefaultOptions(), 1<<40, link(20e6, 20*ms, 0))
	c.run(time.Second, nil)
	s := c.nodes[0].ups[testRun]
	b := make([]byte, refusedBytes)
	p := refused{head{kind: kindRefused, flow: s.flows[0].key.flow, sequence: s.arrivals.highest}, ReasonBadContent, s.peerSalt}
	p.put(b)
	s.sealer.seal(downstream, s.peerSalt, p.sequence, b, refusedBytes-tagBytes)
	before := s.counts.Replayed
	c.spoof(0, addressOf(1), b)
	require.Equal(t, before+1, s.counts.Replayed)
	state, _ := c.consumer.State()
	require.Empty(t, state)
}
