package pathrelay

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/pathtrace/pathtest"
)

// TestAnyPathsCarryTheRightBytesAndConserveThem flies over random paths that change under the relays each 0.1 s.
func TestAnyPathsCarryTheRightBytesAndConserveThem(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) { // prints its seed
		seed := rapid.Uint64().Draw(rt, "seed")
		rng := rand.New(rand.NewPCG(seed, 0))
		file := filepath.Join(folder, "random.dlpath")
		var profile emulate.Profile
		for err := os.ErrNotExist; err != nil; { // a trace that never has a path is no profile
			require.NoError(rt, os.WriteFile(file, pathtest.Random(rng, 1+rng.IntN(30)), 0o600))
			profile, err = emulate.LoadProfile(file)
		}
		options := intcp.DefaultOptions()
		options.AsksOnHandover, options.SharesCache = rng.IntN(4) > 0, rng.IntN(4) > 0
		f := fly(t, profile, seed, options)
		f.run(time.Duration(1+rng.IntN(2)) * time.Second)
		state, _ := f.State()
		require.Contains(rt, []string{"", "link_lost"}, state)
		for _, way := range f.network {
			c := way.Line.Counts()
			lost := uint64(0)
			for _, packets := range c.Lost {
				lost += packets
			}
			require.Equal(rt, c.Received+c.Given, c.Delivered+c.Taken+lost+uint64(c.Queued))
		}
		require.LessOrEqual(rt, len(f.relays.at), 8)
	})
}

// TestASatelliteThatComesBackHasItsCache: what passed it before it left goes to who asks after its return.
func TestASatelliteThatComesBackHasItsCache(t *testing.T) {
	const each = 3 * time.Second
	f := fly(t, pathOf(t, by(each, 0, 1, 2), by(each, 0, 3, 4), by(30*each, 0, 1, 2)), 1, intcp.DefaultOptions())
	f.run(each - 100*ms)
	held := f.relays.at[emulate.Site{Hop: 0, Node: 2}].node.Counts().HeldBytes
	require.Greater(t, held, 3_000_000)
	f.run(2*each + 100*ms)
	require.GreaterOrEqual(t, f.relays.at[emulate.Site{Hop: 0, Node: 2}].node.Counts().HeldBytes, held)
}

func TestASatelliteThatStaysAwayIsForgotten(t *testing.T) {
	f := fly(t, pathOf(t, by(time.Second, 0, 1, 2), by(CacheKeep, 0, 3, 4), by(time.Second, 0, 5, 6), by(time.Second, 0, 3, 4)), 1,
		intcp.DefaultOptions())
	f.run(500 * ms)
	arrived := f.relays.Look(f.now, content.Name).Look.Arrived
	for at := time.Second; at < CacheKeep+3*time.Second; at += time.Second { // nobody measures: the way is followed all the same
		f.relays.Turn(at, func(emulate.Site, bool, *emulate.Packet) {})
	}
	require.NotContains(t, f.relays.at, emulate.Site{Hop: 0, Node: 1})
	require.Contains(t, f.relays.at, emulate.Site{Hop: 0, Node: 5})
	require.GreaterOrEqual(t, f.relays.Look(f.now, content.Name).Look.Arrived, arrived, "what it did still counts")
}

func TestTheEndOfARunIsToldAndWiped(t *testing.T) {
	f := fly(t, hopsOf(hop(20e6, 20*ms, 0), hop(20e6, 20*ms, 0)), 1, intcp.DefaultOptions())
	f.run(2 * time.Second)
	f.relays.End(f.now)
	f.run(f.now + 200*ms)
	state, _ := f.State()
	require.Equal(t, "refused: ended", state)
	require.Zero(t, f.ends[0].Counts().Flows, "the sender has heard it too")
	require.Zero(t, f.relays.chain[0].node.Counts().HeldBytes)
}

func TestStrangersGetNothingOfTheRelays(t *testing.T) {
	f := fly(t, hopsOf(hop(20e6, 20*ms, 0), hop(20e6, 20*ms, 0)), 1, intcp.DefaultOptions())
	f.run(2 * time.Second)
	held := len(f.relays.all)
	for _, isUp := range []bool{false, true} {
		f.wake = f.circuit.Enter(f.now, isUp, openOfNoRun(f.Fresh(), receiver), f.leave)
	}
	f.run(f.now + time.Second)
	require.Len(t, f.relays.all, held)
	require.EqualValues(t, 2, f.relays.chain[0].node.Counts().Strangers)
	require.Greater(t, f.over(time.Second), 0.9*ceiling(20e6))
}
