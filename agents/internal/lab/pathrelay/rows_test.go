package pathrelay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/pathtrace"
)

// summed is what rows add up to, by node.
type summed map[int]RowCounts

func (s summed) add(rows []Row) {
	for _, row := range rows {
		c := s[row.Node]
		c.ArrivedBytes += row.ArrivedBytes
		c.SentBytes += row.SentBytes
		c.RepairedBytes += row.RepairedBytes
		c.LostPackets += row.LostPackets
		c.HitUnits += row.HitUnits
		s[row.Node] = c
	}
}

// requireAll: what rows added up of each node is what the node itself has counted.
func (s summed) requireAll(t *testing.T, f *flight) {
	t.Helper()
	for _, each := range f.relays.at {
		look, hop := each.node.Look(0, testRun, content.Name), each.node.HopCounts(testRun)
		require.Equal(t, counted(&look, &hop), s[nodeNumber(each.Site)], "node %d", nodeNumber(each.Site))
	}
}

func TestRowsOfSitesFollowAPathThatChangesAndAddUp(t *testing.T) {
	const each = 1050 * ms // changes lie between two moments of rows
	ways := [][]pathtrace.Node{{1, 2, 3}, {1, 4, 3}, {1, 2, 5, 3}, {6, 2, 3}, {1, 2, 3}, {1, 2, 7}, {8}}
	f := fly(t, pathOf(t, by(each, 0.01, ways[0]...), by(each, 0.01, ways[1]...), by(each, 0.01, ways[2]...), by(each, 0.01, ways[3]...),
		by(each, 0.01, ways[4]...), by(each, 0.01, ways[5]...), by(each, 0.01, ways[6]...)), 1, intcp.DefaultOptions())
	require.Nil(t, f.relays.Rows(0, content.Name), "nobody measures yet")
	f.relays.Measure()
	sums, lasts := summed{}, 0
	for at := time.Duration(0); at < time.Duration(len(ways))*each; at += 100 * ms {
		f.run(at)
		rows := f.relays.Rows(at, content.Name)
		sums.add(rows)
		sums.requireAll(t, f)
		var onWay []pathtrace.Node
		place := 0
		for _, row := range rows {
			require.GreaterOrEqual(t, row.Place, place, "rows come in the order of places")
			place = row.Place
			if way := ways[at/each]; row.Place > len(way) || int(way[row.Place-1]) != row.Node {
				lasts++
				require.NotZero(t, row.RowCounts)
				require.Positive(t, row.AskedBps, "as it stood when it left")
				require.Positive(t, row.RTT)
				continue
			}
			require.Equal(t, len(onWay)+1, row.Place)
			onWay = append(onWay, pathtrace.Node(row.Node))
		}
		require.Equal(t, ways[at/each], onWay, "%v", at)
	}
	require.GreaterOrEqual(t, lasts, 6, "a node that leaves has a last row")
	for node := 1; node <= 8; node++ {
		require.Positive(t, sums[node].ArrivedBytes, "node %d", node)
		require.Positive(t, sums[node].LostPackets, "node %d", node)
		require.Positive(t, sums[node].RepairedBytes, "node %d", node)
		require.Greater(t, sums[node].SentBytes, sums[node].RepairedBytes)
	}
}

func TestRowsOfSitesSayHowEachHopStands(t *testing.T) {
	f := fly(t, hopsOf(hop(20e6, 20*ms, 0), hop(20e6, 40*ms, 0.01), hop(20e6, 60*ms, 0)), 1, intcp.DefaultOptions())
	f.relays.Measure()
	f.run(4 * time.Second)
	rows := f.relays.Rows(f.now, content.Name)
	require.Len(t, rows, 2)
	for i, row := range rows {
		require.Equal(t, i+1, row.Place)
		require.Equal(t, behindFirstHop-i, row.Node, "the router behind a hop of the profile")
		require.Greater(t, row.AskedBps, 16e6, "more at moments at which the law tries more")
		require.Greater(t, row.GrantedBps, 16e6)
		require.InDelta(t, (i+1)*20, float64(row.RTT)/float64(ms), 20)
		require.Less(t, row.Queue, 30*ms)
	}
	require.Less(t, rows[0].RTT, rows[1].RTT)
	require.Zero(t, rows[0].LostPackets, "of the hop that ends here")
	require.Positive(t, rows[1].LostPackets)
	require.Positive(t, rows[0].RepairedBytes, "by the node upstream of the hop that lost it")
	require.Zero(t, rows[1].RepairedBytes)
	again := f.relays.Rows(f.now, content.Name)
	require.Equal(t, RowCounts{}, again[0].RowCounts, "since the last row")
	require.Equal(t, rows[0].AskedBps, again[0].AskedBps)
	f.relays.End(f.now)
	require.Nil(t, f.relays.Rows(f.now, content.Name))
}

// TestANodeIsRememberedUntilItsLastRow: also where nobody reads rows for longer than nodes keep what they hold.
func TestANodeIsRememberedUntilItsLastRow(t *testing.T) {
	f := fly(t, pathOf(t, by(time.Second, 0, 1, 2), by(CacheKeep, 0, 3, 4), by(time.Second, 0, 5, 6), by(time.Second, 0, 3, 4)), 1,
		intcp.DefaultOptions())
	f.relays.Measure()
	f.run(900 * ms)
	arrived := f.relays.at[emulate.Site{Hop: 0, Node: 1}].node.Look(0, testRun, content.Name).NewBytes
	require.Positive(t, arrived)
	turn := func(from, until time.Duration) {
		for at := from; at < until; at += time.Second {
			f.relays.Turn(at, func(emulate.Site, bool, *emulate.Packet) {})
		}
	}
	turn(time.Second, CacheKeep+2*time.Second)
	sums := summed{}
	sums.add(f.relays.Rows(CacheKeep+2*time.Second, content.Name))
	require.Equal(t, arrived, sums[1].ArrivedBytes)
	turn(CacheKeep+2*time.Second, CacheKeep+3*time.Second)
	require.NotContains(t, f.relays.at, emulate.Site{Hop: 0, Node: 1}, "then it is forgotten")
}

func BenchmarkRows(b *testing.B) {
	hops := make([]emulate.Hop, 15)
	for i := range hops {
		hops[i] = hop(20e6, 6*ms, 0)
	}
	f := fly(b, hopsOf(hops...), 1, intcp.DefaultOptions())
	f.relays.Measure()
	f.run(2 * time.Second)
	for b.Loop() {
		f.relays.Rows(f.now, content.Name)
	}
}
