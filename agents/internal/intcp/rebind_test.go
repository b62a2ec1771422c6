package intcp

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rebound has a node's neighbour see it at another address from now on, as a NAT does that forgot the first one.
type rebound struct {
	*chain
	opens [][]byte
}

func newRebound(t testing.TB, options Options) *rebound {
	r := &rebound{chain: newChain(t, 1, options, 1<<40, link(20e6, 20*ms, 0), link(20e6, 20*ms, 0))}
	r.outside = map[int]Address{}
	r.meddle = func(from, _ int, d []byte) [][]byte {
		if from == 0 && kind(d[1]) == kindOpen {
			r.opens = append(r.opens, bytes.Clone(d))
		}
		return [][]byte{d}
	}
	return r
}

// TestANewAddressGoesOnWithItsFlow within a few round trips, time after time.
func TestANewAddressGoesOnWithItsFlow(t *testing.T) {
	for _, shares := range []bool{true, false} {
		options := DefaultOptions()
		options.SharesCache = shares
		r := newRebound(t, options)
		r.run(3*time.Second, nil)
		for i := range 3 {
			r.outside[0] = addressOf(7000 + i)
			moved := r.now
			r.run(r.now+30*ms, nil) // what flew
			before := r.consumer.Counts().ArrivedBytes
			r.run(r.now+time.Second, func() bool { return r.consumer.Counts().ArrivedBytes > before })
			t.Logf("data again after %v", r.now-moved)
			require.Less(t, r.now-moved, 8*20*ms)
			require.Equal(t, 1, r.nodes[1].Counts().Flows)
			require.Greater(t, r.over(2*time.Second), 0.9*ceiling(20e6))
		}
		r.requireConserved()
		require.Less(t, r.consumer.Counts().AskedAgainUnits, uint64(100), "the hop repairs what it lost")
	}
}

// TestAReplayFromElsewhereMovesNothing: neither an OPEN with a cookie, nor an interest, nor a cookie of the replayer's own.
func TestAReplayFromElsewhereMovesNothing(t *testing.T) {
	r := newRebound(t, DefaultOptions())
	all := []taken{}
	record := r.meddle
	r.meddle = func(from, to int, d []byte) [][]byte {
		if from == 0 {
			all = append(all, taken{from, to, r.now, bytes.Clone(d)})
		}
		return record(from, to, d)
	}
	r.run(time.Second, nil)
	elsewhere := addressOf(4444)
	session := r.nodes[1].hops[hopKey{testRun, hopOf(testRun, 0, 1).Number}].now
	for _, d := range all {
		r.spoof(1, elsewhere, d.bytes)
		require.Equal(t, addressOf(0), session.peer)
	}
	ahead := bytes.Clone(r.opens[len(r.opens)-1]) // with a sequence that is high enough, and a tag that does not hold
	ahead[8] = 1
	r.spoof(1, elsewhere, ahead)
	require.Equal(t, addressOf(0), session.peer)
	require.Equal(t, 1, r.nodes[1].Counts().Flows)
	require.Greater(t, r.over(time.Second), 0.9*ceiling(20e6))
}

// TestAnInterestFromElsewhereIsAnsweredWithACallAlone, in fewer bytes than it has; an old one not at all.
func TestAnInterestFromElsewhereIsAnsweredWithACallAlone(t *testing.T) {
	r := newRebound(t, DefaultOptions())
	r.run(time.Second, nil)
	var kept []byte
	record := r.meddle
	r.meddle = func(from, to int, d []byte) [][]byte {
		if from == 0 && kept == nil && kind(d[1]) == kindInterest {
			kept = bytes.Clone(d)
			return nil
		}
		return record(from, to, d)
	}
	r.run(r.now+time.Second, func() bool { return kept != nil })
	require.Equal(t, refusedBytes, r.spoof(1, addressOf(4444), kept))
	r.run(r.now+time.Second, nil)
	require.Zero(t, r.spoof(1, addressOf(4444), kept))
	require.Greater(t, r.over(time.Second), 0.9*ceiling(20e6))
}
