package intcp

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
)

// sharers are flows of runs of their own, from different origins to different consumers, over one link.
type sharers struct {
	*world
	data      *way
	consumers []*Consumer
}

// newSharers begins a flow each `apart`: pair i is nodes 2i and 2i+1.
func newSharers(t testing.TB, flows int, apart time.Duration, hop emulate.Profile) *sharers {
	s := &sharers{world: newWorld(t, 2*flows)}
	data, interests := s.join(0, 1, hop, 1)
	s.data = data
	for i := range flows {
		down, up, run := 2*i, 2*i+1, uint64(testRun+i)
		s.share(down, up, data, interests)
		for _, node := range []int{down, up} {
			require.NoError(t, s.nodes[node].Begin(run, DefaultOptions()))
		}
		s.neighbours(run, down, up)
		content := Content{Run: run, Name: testName, Length: 1 << 40, UnitBytes: MaxUnitBytes}
		require.NoError(t, s.nodes[up].Publish(content, Stream{Seed: run}, content.Length))
		s.consumers = append(s.consumers, s.consume(down, content, run))
		if i+1 < flows {
			s.run(s.now+apart, nil)
		}
	}
	return s
}

// rates are the payloads' in the next time, in bits a second.
func (s *sharers) rates(lasting time.Duration) (rates []float64) {
	before := make([]uint64, len(s.consumers))
	for i, c := range s.consumers {
		before[i] = c.Counts().ArrivedBytes
	}
	s.run(s.now+lasting, nil)
	for i, c := range s.consumers {
		rates = append(rates, float64(c.Counts().ArrivedBytes-before[i])*8/lasting.Seconds())
	}
	return rates
}

func jain(rates []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, rate := range rates {
		sum, squares = sum+rate, squares+rate*rate
	}
	return sum * sum / (float64(len(rates)) * squares)
}

// TestFlowsOfDifferentConsumersShareAHop: by the median of three starts, since single ones lie up to 0.04 lower by chance.
func TestFlowsOfDifferentConsumersShareAHop(t *testing.T) {
	for _, flows := range []int{2, 4} {
		for _, apart := range []time.Duration{0, 2 * time.Second} {
			for _, rtt := range []time.Duration{20 * ms, 100 * ms} {
				t.Run(fmt.Sprintf("%d, %v apart, %v", flows, apart, rtt), func(t *testing.T) {
					var shares []float64
					for _, later := range []time.Duration{-300 * ms, 0, 300 * ms} {
						s := newSharers(t, flows, max(0, apart+later), link(20e6, rtt, 0))
						s.run(s.now+5*time.Second, nil)
						rates := s.rates(20 * time.Second)
						sum := 0.0
						for _, rate := range rates {
							sum += rate
						}
						t.Logf("%.3g bit/s: Jain's index %.3f, %.1f %% of the ceiling", rates, jain(rates), 100*sum/ceiling(20e6))
						require.Greater(t, sum, 0.95*ceiling(20e6))
						require.Zero(t, s.data.line.Counts().Lost[emulate.QueueFull])
						s.requireConserved()
						shares = append(shares, jain(rates))
					}
					slices.Sort(shares)
					require.GreaterOrEqual(t, shares[1], 0.98)
					require.Greater(t, shares[0], 0.9)
				})
			}
		}
	}
}
