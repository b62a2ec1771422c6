package pathrelay

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/lab/emulate"
)

// crowd is a flight with further receivers, all of which ask for one content.
type crowd struct {
	*flight
	fork      *emulate.Fork
	further   []*end
	consumers []*intcp.Consumer // that of the receiver at the end first
	lostBy    [2]int            // on branches, down and up
}

func gather(t testing.TB, profile emulate.Profile, seed uint64, options intcp.Options) *crowd {
	f := &flight{t: t, lost: map[emulate.Cause]int{}, network: emulate.New(profile, seed)}
	c := &crowd{flight: f}
	up := intcp.Hop{Run: testRun, Number: 1, Key: key(1)}
	plan := Plan{Run: testRun, Options: options, Policy: intcp.DefaultPolicy(), Here: here, Secret: [16]byte{5}, Salt: 77,
		Receivers: profile.Receivers, Branches: map[uint16]int{}, Hosts: map[netip.Addr]int{}}
	for i := range len(profile.Receivers) + 1 {
		number := uint16(2 + i)
		plan.Serves = append(plan.Serves, intcp.Hop{Run: testRun, Number: number, Key: key(number)})
		plan.Branches[number] = i
	}
	for i := range profile.Receivers {
		plan.Hosts[furtherAt(i).Addr()] = i + 1
	}
	var err error
	f.relays, err = New(plan, f)
	require.NoError(t, err)
	c.fork = emulate.NewFork(profile, c.leaveBranch)
	c.fork.Host(f.relays)
	f.circuit = emulate.NewCircuit(profile, f.network, c.fork, 0)
	c.fork.Begin(seed, 0)
	c.fork.Fly(0, f.circuit.Places)
	f.relays.Fly(0, f.circuit.Places)
	f.relays.Watch(content.Name)
	f.ends = [2]*end{{Node: node(t, 1, options), at: sender}, {Node: node(t, 2, options), at: receiver}}
	require.NoError(t, f.ends[0].Serve(up))
	require.NoError(t, f.ends[0].Publish(content, stream, content.Length))
	require.NoError(t, f.relays.Ask(0, up, sender))
	c.begin(f.ends[1], plan.Serves[0])
	for i, hop := range plan.Serves[1:] {
		e := &end{Node: node(t, uint32(3+i), options), at: furtherAt(i)}
		c.further = append(c.further, e)
		c.begin(e, hop)
	}
	return c
}

func furtherAt(i int) netip.AddrPort {
	return netip.MustParseAddrPort(fmt.Sprintf("198.18.1.%d:6000", 20+i))
}

func (c *crowd) begin(e *end, hop intcp.Hop) {
	hop.Peer = addressOf(here)
	require.NoError(c.t, e.Ask(hop))
	consumer, err := e.Consume(time.Second, content, stream)
	require.NoError(c.t, err)
	c.consumers = append(c.consumers, consumer)
}

func (c *crowd) leaveBranch(branch int, isUp bool, p *emulate.Packet) {
	if p.Lost != emulate.NotLost {
		if isUp {
			c.lostBy[1]++
		} else {
			c.lostBy[0]++
		}
		c.Free(p)
		return
	}
	require.False(c.t, isUp)
	require.Equal(c.t, c.now, p.LeftAt, "who comes when the circuit says misses nothing")
	from, payload, isSound := source(p)
	require.True(c.t, isSound)
	e := c.further[branch-1]
	e.Take(c.now+clockBegin, addressOf(from), append([]byte(nil), payload...), &e.out)
	e.wake = c.now
	c.Free(p)
}

func (c *crowd) run(until time.Duration) {
	for c.now < until {
		next := min(until, c.wake, c.ends[0].wake, c.ends[1].wake)
		for _, e := range c.further {
			next = min(next, e.wake)
		}
		c.now = max(c.now, next)
		c.wakes++
		require.Less(c.t, c.wakes, 50_000_000, "a storm of timers")
		c.wake = c.circuit.Run(c.now, c.leave)
		for i, e := range c.ends {
			if e.wake <= c.now {
				c.step(i, intcp.Address{}, nil)
			}
		}
		for i, e := range c.further {
			if e.wake <= c.now {
				c.stepFurther(i+1, e)
			}
		}
	}
}

func (c *crowd) stepFurther(branch int, e *end) {
	e.wake = e.Step(c.now+clockBegin, intcp.Address{}, nil, &e.out) - clockBegin
	out := e.out
	e.out = intcp.Outbox{}
	for _, d := range out.Datagrams {
		c.fork.Enter(c.now, branch, e.pack(c.Fresh(), d))
	}
	c.wake = c.circuit.Run(c.now, c.leave)
}

// rates are the receivers' over a time, in bits a second; arrived is that of what came from the sender.
func (c *crowd) rates(lasting time.Duration) (rates []float64, arrived float64) {
	before := make([]uint64, len(c.consumers))
	for i, each := range c.consumers {
		before[i] = each.Counts().InOrderBytes
	}
	first := c.relays.Look(c.now, content.Name).Look
	c.run(c.now + lasting)
	for i, each := range c.consumers {
		rates = append(rates, float64(each.Counts().InOrderBytes-before[i])*8/lasting.Seconds())
	}
	last := c.relays.Look(c.now, content.Name).Look
	return rates, float64(last.ArrivedBytes-first.ArrivedBytes) * 8 / lasting.Seconds()
}

func branches(n int, bps float64) (all []emulate.Branch) {
	for i := range n {
		all = append(all, emulate.Branch{At: float64(i) / float64(n), Down: direction(bps, 4*ms, 1e-3), Up: direction(bps, 4*ms, 0)})
	}
	return all
}

// TestReceiversHangAtHops: over routers and over satellites that change, with the caches shared and not.
func TestReceiversHangAtHops(t *testing.T) {
	const each = 2 * time.Second
	hops := hopsOf(hop(10e6, 20*ms, 0), hop(20e6, 20*ms, 0), hop(20e6, 20*ms, 0), hop(20e6, 20*ms, 0))
	for name, profile := range map[string]emulate.Profile{
		"hops":       hops,
		"satellites": pathOf(t, by(3*each, 0, 1, 2, 3), by(each, 0, 1, 4, 3), by(each, 0, 5, 2, 3), by(each, 0, 1, 2, 6, 3), by(each, 0, 1, 3)),
	} {
		for _, shares := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, shared %v", name, shares), func(t *testing.T) {
				options := intcp.DefaultOptions()
				options.SharesCache = shares
				profile.Receivers = branches(3, 20e6)
				c := gather(t, profile, 1, options)
				c.run(4*time.Second - 100*ms) // and so it ends between two changes
				rates, arrived := c.rates(3 * each)
				seen := c.relays.Look(c.now, content.Name)
				t.Logf("%.3g bit/s, %.3g from the sender, lost on branches %v, %d ask, astray %d, %d wakes",
					rates, arrived, c.lostBy, seen.Look.Readers, c.relays.astray, c.wakes)
				sum := 0.0
				for i, rate := range rates {
					sum += rate
					state, _ := c.consumers[i].State()
					require.Empty(t, state)
				}
				require.Equal(t, 4, seen.Look.Readers)
				require.Positive(t, c.lostBy[0])
				for _, rate := range rates {
					if shares {
						require.InEpsilon(t, arrived, rate, 0.1)
					} else {
						require.Less(t, rate, arrived*1.3/4)
						require.Greater(t, rate, arrived*0.7/4)
					}
				}
				if !shares {
					require.InEpsilon(t, arrived, sum, 0.1)
				}
				passed := uint64(0)
				for _, each := range c.consumers {
					passed += each.Counts().ArrivedBytes
				}
				require.InEpsilon(t, passed, seen.Look.PassedBytes, 0.05)
			})
		}
	}
}

// TestWhoSaysTheyAreAnotherHostChangesNothing: packets from a further receiver, and from the receiver at the end, in the name of
// every other host of the link.
func TestWhoSaysTheyAreAnotherHostChangesNothing(t *testing.T) {
	profile := hopsOf(hop(10e6, 20*ms, 0), hop(20e6, 20*ms, 0), hop(20e6, 20*ms, 0))
	profile.Receivers = branches(2, 20e6)
	c := gather(t, profile, 1, intcp.DefaultOptions())
	c.run(4 * time.Second)
	claim := func(at netip.AddrPort, enter func(p *emulate.Packet)) {
		enter(openOfNoRun(c.Fresh(), at))
	}
	for _, at := range []netip.AddrPort{receiver, sender, here, c.further[0].at, c.further[1].at} {
		claim(at, func(p *emulate.Packet) { c.fork.Enter(c.now, 1, p) })
		claim(at, func(p *emulate.Packet) { c.wake = c.circuit.Enter(c.now, true, p, c.leave) })
	}
	claim(netip.AddrPortFrom(receiver.Addr(), 9), func(p *emulate.Packet) { c.wake = c.circuit.Enter(c.now, true, p, c.leave) })
	c.run(c.now + 100*ms)
	require.Equal(t, receiver, c.relays.receiver)
	rates, arrived := c.rates(2 * time.Second)
	for _, rate := range rates {
		require.InEpsilon(t, arrived, rate, 0.05)
		require.Greater(t, rate, 0.9*ceiling(10e6))
	}
}
