package trial_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/netlab"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/hosttest"
)

// overSites is a way whose one relay speaks for the sites of a real emulated link of three hops, of which each loses a fiftieth.
func overSites(t *testing.T) *way {
	t.Helper()
	hosttest.NeedRoot(t)
	lane := emulate.Direction{Rate: emulate.Rate{ConstantBps: 20e6}, Queue: emulate.Queue{LimitBytes: 1_500_000},
		Delay: emulate.Delay{BaseMs: 8}}
	lossy := lane
	lossy.Loss = emulate.Loss{IndependentRatio: 0.02}
	hop := emulate.Hop{Down: lossy, Up: lane}
	profile := emulate.Profile{Name: "hops", Orbit: "LEO", Seed: 1, Hops: []emulate.Hop{hop, hop, hop},
		Facts: emulate.Facts{NominalRateBps: 20e6, BaseRttMs: 48}}
	path := filepath.Join(t.TempDir(), "relays.sock")
	lab, err := netlab.Up(netlab.Options{Name: fmt.Sprintf("sites-%d", os.Getpid()), Profile: profile, Seed: 1, Senders: 1,
		RelayControl: path})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, lab.Close()) })
	w := newWay(t, engine{"intcp", engines[2].transport, 1})
	hosts := lab.Hosts()
	for i, name := range []string{"sender-1", netlab.Relays, netlab.Receiver} {
		w.rigs[i].env.Config.DataHost = hosts[name].DataHost
		if i < w.last() {
			w.orders[i+1].Flows[0].Upstream.Host = hosts[name].DataHost
		}
		if name == netlab.Relays {
			w.rigs[i].env.Config.RelayControl = path
			continue
		}
		namespace := hosttest.Named(t, hosts[name].Namespace)
		w.rigs[i].on = func(run func()) { namespace.Do(t, run) }
	}
	w.stop(protocol.Stop{Seconds: new(2.0)})
	return w
}

func (w *way) finish(t *testing.T) (relay *rig, outcome protocol.Outcome) {
	t.Helper()
	w.start(t)
	for i := range w.rigs {
		select {
		case err := <-w.ended[i]:
			require.NoError(t, err)
		case <-time.After(8 * time.Second):
			for _, r := range w.rigs {
				t.Logf("%+v", r.events)
			}
			require.Fail(t, "the run does not end")
		}
	}
	for _, r := range w.rigs {
		require.Equal(t, protocol.EndedStopRule, r.outcome(t).Ended, r.outcome(t).Detail)
	}
	return w.rigs[1], w.rigs[1].outcome(t)
}

func TestTheAgentOfALinksSitesKeepsATableOfThem(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	w := overSites(t)
	w.orders[1].Sampling.Sites = true
	relay, outcome := w.finish(t)
	table := relay.columns(t, 1, protocol.Role(protocol.PointSites))
	require.Len(t, table, len(tcpinfo.SiteNames))
	require.Equal(t, &protocol.SiteTable{Rows: len(table["elapsed_us"]), Chunks: 1}, outcome.Sites)
	require.GreaterOrEqual(t, outcome.Sites.Rows, 2*20, "two sites each 100 ms of 2 s")
	arrived, asked := map[int64]int64{}, map[int64]int64{}
	lost, repaired := map[int64]int64{}, map[int64]int64{}
	for i, elapsed := range table["elapsed_us"] {
		place := table["site_place"][i]
		require.Equal(t, int64(i%2+1), place)
		require.Equal(t, int64(i/2)*100_000+place-1, elapsed, "each 100 ms from the run's zero")
		require.Equal(t, -1000-place, table["site_node"][i])
		arrived[place] += table["site_arrived_bytes"][i]
		lost[place] += table["site_lost_packets"][i]
		repaired[place] += table["site_repaired_bytes"][i]
		asked[place] = max(asked[place], table["site_asked_bps"][i])
	}
	hops := relay.columns(t, 1, protocol.Role(protocol.PointHop(1)))
	newest := func(name string) int64 { return hops[name][len(hops[name])-1] }
	t.Logf("arrived %v, lost %v, repaired %v, asked %v; together %d, %d",
		arrived, lost, repaired, asked, newest("arrived_bytes"), newest("hop_lost_packets"))
	require.Greater(t, arrived[1], int64(2_000_000))
	require.InDelta(t, arrived[1], arrived[2], 300_000, "but for what is in flight")
	require.InDelta(t, newest("arrived_bytes"), arrived[1], 300_000)
	for place := int64(1); place <= 2; place++ {
		require.Positive(t, lost[place])
		require.Positive(t, repaired[place])
		require.Greater(t, asked[place], int64(5_000_000))
	}
	require.GreaterOrEqual(t, lost[1]+lost[2], newest("hop_lost_packets"), "the table ends after the trace")
}

func TestFlowsOfOneContentHaveTheWholeTableEach(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	w := overSites(t)
	w.orders[1].Sampling.Sites = true
	for _, order := range w.orders {
		addFlow(order)
		order.Flows[1].Content = 1
	}
	relay, _ := w.finish(t)
	one, other := relay.columns(t, 1, protocol.Role(protocol.PointSites)), relay.columns(t, 2, protocol.Role(protocol.PointSites))
	for name, values := range one {
		count := min(len(values), len(other[name])) // the flow that ended later may have a moment more
		require.GreaterOrEqual(t, count, 2*20, "two sites each 100 ms of 2 s")
		require.Equal(t, values[:count], other[name][:count], name)
	}
}

func TestNoTableOfSitesUnlessTheRunAsksForIt(t *testing.T) {
	w := overSites(t)
	w.stop(protocol.Stop{Seconds: new(0.5)})
	relay, outcome := w.finish(t)
	require.Nil(t, outcome.Sites)
	require.Len(t, relay.env.Spool.Keys(ref.RunID, 1), outcome.Chunks)
}
