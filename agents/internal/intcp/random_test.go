package intcp

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/emulate"
)

func randomDirection(rng *rand.Rand) emulate.Direction {
	d := direction(1e6+rng.Float64()*50e6, time.Duration(rng.IntN(60))*ms, 0, 20+rng.IntN(1000))
	if rng.IntN(2) == 0 {
		d.Loss.IndependentRatio = rng.Float64() * 0.1
	}
	if rng.IntN(4) == 0 {
		d.Gap = &emulate.Gap{EveryS: 2 + 3*rng.Float64(), LengthMs: 300 * rng.Float64(), IsLossy: rng.IntN(2) == 0}
	}
	if rng.IntN(4) == 0 {
		d.Delay.Reorders = true
		d.Delay.Variations = []emulate.Variation{{HoldMs: 20 * rng.Float64(), Uniform: &emulate.UniformMs{LowMs: 0, HighMs: 5}}}
	}
	return d
}

func randomLink(rng *rand.Rand) emulate.Profile {
	return emulate.Profile{Down: randomDirection(rng), Up: randomDirection(rng)}
}

// runRandomPath moves a content over random hops; some relays are replaced on the way. All of it arrives and is right.
func runRandomPath(t *testing.T, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	options := DefaultOptions()
	options.SharesCache = rng.IntN(4) > 0
	options.RecoversByHop = rng.IntN(4) > 0
	options.AsksOnHandover = rng.IntN(2) == 0
	options.BufferBytes = rng.IntN(2) * (20_000 + rng.IntN(300_000))
	hops := make([]emulate.Profile, 1+rng.IntN(5))
	for i := range hops {
		hops[i] = randomLink(rng)
	}
	c := newChain(t, seed, options, 1+rng.Uint64N(2_000_000), hops...)
	for range rng.IntN(3) {
		c.run(c.now+time.Duration(rng.IntN(1000))*ms, c.done)
		if len(hops) > 1 && !c.done() {
			c.replaceRelay(rng, options)
		}
	}
	c.run(300*time.Second, c.done)
	state, _ := c.consumer.State()
	if state != "complete" && state != "link_lost" {
		require.Fail(t, "no end", "seed %d: %q\n%s", seed, state, c.show())
	}
	if state == "complete" {
		require.Equal(t, c.content.Length, c.consumer.Counts().InOrderBytes)
	}
	c.requireConserved()
}

// replaceRelay puts another satellite in the place of one of the chain's first relays.
func (c *chain) replaceRelay(rng *rand.Rand, options Options) {
	upper := c.route[2%len(c.route)]
	old := c.route[1]
	fresh := len(c.nodes)
	c.nodes = append(c.nodes, newNode(fresh, DefaultPolicy()))
	require.NoError(c.t, c.nodes[fresh].Begin(testRun, options))
	c.cut(0, old)
	c.cut(old, upper)
	c.join(0, fresh, randomLink(rng), rng.Uint64())
	c.join(fresh, upper, randomLink(rng), rng.Uint64())
	c.neighbours(testRun, fresh, upper)
	c.neighbours(testRun, 0, fresh)
	c.route[1] = fresh
}
