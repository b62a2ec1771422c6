package intcp

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// leaves is a way of two relays whose consumer leaves it: the first relay is told. The origin holds much of what it asked for.
func leaves(t *testing.T, options Options) *chain {
	hop := link(20e6, 20*ms, 0)
	c := newChain(t, 3, options, 40_000_000, hop, hop, link(2e6, 20*ms, 0.01))
	c.run(2*time.Second, nil)
	c.cut(0, 1)
	c.nodes[1].Part(testRun, hopOf(testRun, 0, 1).Number)
	c.touch(1)
	return c
}

// TestTheFlowOfOneWhoLeftEnds after a minute, as that of one who is silent, whatever is on its way still: nobody wants it.
func TestTheFlowOfOneWhoLeftEnds(t *testing.T) {
	for _, shares := range []bool{true, false} {
		t.Run(fmt.Sprintf("caches %v", shares), func(t *testing.T) {
			options := DefaultOptions()
			options.SharesCache = shares
			c := leaves(t, options)
			require.Zero(t, c.nodes[1].Look(c.now, testRun, testName).Readers, "nobody on the path asks")
			c.run(c.now+readerLife/2, nil)
			require.NotEmpty(t, c.nodes[1].up, "whoever takes the place goes on with it")
			c.run(c.now+readerLife/2+2*time.Second, nil)
			for i, n := range c.nodes[1:] {
				n.requireIdle(t, fmt.Sprintf("node %d", i+1))
			}
			c.requireConserved()
		})
	}
}

// TestOneWhoLeftIsToldNothing when the content ends above.
func TestOneWhoLeftIsToldNothing(t *testing.T) {
	c := leaves(t, DefaultOptions())
	c.meddle = func(from, to int, d []byte) [][]byte {
		require.False(t, from == 1 && to == 0, "a packet of kind %d", d[1])
		return [][]byte{d}
	}
	c.nodes[3].End(testRun)
	c.touch(3)
	c.run(c.now+2*time.Second, nil)
	require.Empty(t, c.nodes[1].left)
	require.Empty(t, c.nodes[1].up)
}

// TestANameOfOneWhoLeftIsNobodys: what it said that the content is like counts no longer.
func TestANameOfOneWhoLeftIsNobodys(t *testing.T) {
	w, content := newKeyed(t, DefaultOptions())
	w.cut(relayed, upper) // nobody can say that it is wrong
	wrong := content
	wrong.Length++
	w.consume(harmful, wrong, 1)
	w.run(time.Second, nil)
	w.nodes[relayed].Part(testRun, hopOf(testRun, harmful, relayed).Number)
	w.consume(honest, content, 1)
	w.run(w.now+2*time.Second, nil)
	w.restore(relayed, upper)
	place := w.nodes[relayed].places[placeKey{run: testRun, name: content.Name}]
	require.Equal(t, content, place.Content)
	require.True(t, place.isAsked())
	require.Empty(t, w.nodes[relayed].left)
}
