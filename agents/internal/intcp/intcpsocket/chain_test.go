package intcpsocket_test

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/intcp"
	"downlink/agents/internal/intcp/intcpsocket"
	"downlink/agents/internal/testing/hosttest"
)

const testRun = 7

var testContent = intcp.Content{Run: testRun, Name: intcp.Name{'c'}, Length: 1 << 40, UnitBytes: intcp.MaxUnitBytes}

// chain is the homes of a way, from the sender to the receiver, and their flows.
type chain struct {
	homes  []*intcpsocket.Home
	begin  time.Time
	counts []atomic.Int64
	stop   transfer.Stop
	limits transfer.Limits
	offer  *transfer.Offer
	budget *transfer.Budget
	length uint64
	// instead are carriers of places that a test looks into.
	instead map[int]transfer.Carrier
}

func hop(number int, peer netip.AddrPort) intcp.Hop {
	return intcp.Hop{Run: testRun, Number: uint16(number), Key: intcp.Key{byte(number), 9}, Peer: intcpsocket.AddressOf(peer)}
}

// newChain opens homes on loopback, with as many relays between the ends.
func newChain(t testing.TB, relays int, stop transfer.Stop) *chain {
	t.Helper()
	c := &chain{stop: stop, counts: make([]atomic.Int64, relays+2), budget: transfer.NewBudget(0), length: testContent.Length}
	if stop.Bytes > 0 {
		c.length = uint64(stop.Bytes)
	}
	for i := range relays + 2 {
		plan := intcpsocket.Plan{Run: testRun, Options: intcp.DefaultOptions(), Policy: intcp.DefaultPolicy(), Asks: i > 0}
		if i < relays+1 {
			plan.Address, plan.Serves = "127.0.0.1:0", []intcp.Hop{hop(i+1, netip.AddrPort{})}
		}
		home, err := intcpsocket.Open(plan)
		require.NoError(t, err)
		t.Cleanup(func() { _ = home.Close() })
		c.homes = append(c.homes, home)
	}
	require.NoError(t, c.homes[0].Publish(c.content(), intcp.Stream{Seed: 5}))
	for i, home := range c.homes[1:] {
		require.NoError(t, home.Ask(hop(i+1, c.homes[i].Local())))
	}
	c.begin = time.Now().Add(20 * time.Millisecond)
	c.limits = transfer.Limits{Deadline: c.begin.Add(20 * time.Second), Overtime: "too long"}
	return c
}

func (c *chain) content() intcp.Content {
	content := testContent
	content.Length = c.length
	return content
}

func (c *chain) plan(i int) intcpsocket.FlowPlan {
	plan := intcpsocket.FlowPlan{
		Home: c.homes[i], Content: c.content(), Stop: c.stop, Limits: c.limits, Begin: c.begin, Patience: 5 * time.Second,
		AppBytes: &c.counts[i], Budget: c.budget, Sample: func(ctx context.Context) { <-ctx.Done() },
	}
	if i == 0 || i == len(c.homes)-1 {
		plan.Stream = intcp.Stream{Seed: 5}
	}
	if i == 0 {
		plan.Offer = c.offer
	}
	if i > 0 {
		plan.Upstream = c.homes[i-1].Local().String()
	}
	return plan
}

func (c *chain) carrier(i int) transfer.Carrier {
	if carrier := c.instead[i]; carrier != nil {
		return carrier
	}
	switch i {
	case 0:
		return intcpsocket.NewSender(c.plan(i))
	case len(c.homes) - 1:
		return intcpsocket.NewReceiver(c.plan(i))
	default:
		return intcpsocket.NewRelay(c.plan(i))
	}
}

// carry carries the flow out at every place but those that are left out.
func (c *chain) carry(t testing.TB, leaveOut ...int) (results []transfer.Result, errs []error) {
	t.Helper()
	results, errs = make([]transfer.Result, len(c.homes)), make([]error, len(c.homes))
	var all sync.WaitGroup
	for i := range c.homes {
		if len(leaveOut) == 1 && leaveOut[0] == i {
			continue
		}
		all.Go(func() { results[i], errs[i] = transfer.Carry(t.Context(), c.carrier(i)) })
	}
	all.Wait()
	return results, errs
}

func TestAnObjectCrossesThreeRelays(t *testing.T) {
	c := newChain(t, 3, transfer.Stop{Bytes: 1_000_000})
	results, errs := c.carry(t)
	for i, result := range results {
		require.NoError(t, errs[i])
		require.Equal(t, transfer.EndedStopRule, result.Ended, "%d: %s", i, result.Detail)
		if i == 0 || i == 4 {
			require.EqualValues(t, 1_000_000, c.counts[i].Load())
		} else { // what a busy machine made late was asked for again
			require.GreaterOrEqual(t, c.counts[i].Load(), int64(1_000_000))
		}
		require.False(t, result.FirstByte.IsZero())
		require.False(t, result.LastByte.Before(result.FirstByte))
	}
	took := results[4].LastByte.Sub(results[4].FirstByte)
	t.Logf("%.0f Mb/s", 8/took.Seconds())
}

// TestARelayThatLooksTooLateHasSeenTheFlow: its node works by itself, and a small object has come and gone between two looks.
func TestARelayThatLooksTooLateHasSeenTheFlow(t *testing.T) {
	c := newChain(t, 1, transfer.Stop{Bytes: 3000})
	results, errs := c.carry(t, 1)
	for _, i := range []int{0, 2} {
		require.NoError(t, errs[i])
		require.Equal(t, transfer.EndedStopRule, results[i].Ended, "%d: %s", i, results[i].Detail)
	}
	result, err := transfer.Carry(t.Context(), c.carrier(1))
	require.NoError(t, err)
	require.Equal(t, transfer.EndedStopRule, result.Ended, result.Detail)
	require.EqualValues(t, 3000, c.counts[1].Load())
}

func TestAFlowEndsAtItsSeconds(t *testing.T) {
	lasts(t, 0.5, 60)
}

func TestAFlowLastsItsSecondsAndNotLonger(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares times of a real kernel")
	lasts(t, 0.5, 1.5)
}

// lasts runs a flow of a second, which at each place lasts for seconds within these bounds.
func lasts(t *testing.T, least, most float64) {
	t.Helper()
	c := newChain(t, 1, transfer.Stop{After: time.Second})
	results, errs := c.carry(t)
	for i, result := range results {
		require.NoError(t, errs[i])
		require.Equal(t, transfer.EndedStopRule, result.Ended, "%d: %s", i, result.Detail)
		took := result.LastByte.Sub(result.FirstByte).Seconds()
		require.Greater(t, took, least)
		require.Less(t, took, most)
		require.Empty(t, result.Detail)
	}
}

// TestWhatWaitsInASocketIsNotAskedForAgain keeps a receiver from its socket now and then, as a busy machine does.
func TestWhatWaitsInASocketIsNotAskedForAgain(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares how much is sent again")
	c := newChain(t, 0, transfer.Stop{After: 2 * time.Second})
	c.offer = &transfer.Offer{MessageBytes: 25_000, Every: 5 * time.Millisecond} // 40 Mb/s, of which 150 kB come meanwhile
	ctx, cancel := context.WithCancel(t.Context())
	var held sync.WaitGroup
	held.Go(func() {
		for ctx.Err() == nil {
			c.homes[1].Do(func(time.Duration, *intcp.Node) { time.Sleep(30 * time.Millisecond) })
			time.Sleep(20 * time.Millisecond)
		}
	})
	results, errs := c.carry(t)
	cancel()
	held.Wait()
	for i, result := range results {
		require.NoError(t, errs[i])
		require.Equal(t, transfer.EndedStopRule, result.Ended, "%d: %s", i, result.Detail)
	}
	look, _ := c.homes[0].Look(c.content())
	share := float64(look.AgainBytes) / float64(look.SentBytes)
	t.Logf("%.0f Mb/s, %.2f %% of it again", 4e-6*float64(look.SentBytes), 100*share)
	require.Less(t, share, 0.15, "a node whose timers act first asks for a third of it again")
}

func TestMessagesComeAtTheirRate(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates")
	c := newChain(t, 1, transfer.Stop{After: time.Second})
	c.offer = &transfer.Offer{MessageBytes: 1400, Every: 5 * time.Millisecond}
	results, errs := c.carry(t)
	for i, result := range results {
		require.NoError(t, errs[i])
		require.Equal(t, transfer.EndedStopRule, result.Ended, "%d: %s", i, result.Detail)
		require.LessOrEqual(t, c.counts[i].Load(), int64(1400)*(int64(time.Since(c.begin)/c.offer.Every)+1))
		require.Greater(t, c.counts[i].Load(), int64(50*1400))
	}
}

func TestARelayThatVanishesEndsTheFlow(t *testing.T) {
	c := newChain(t, 1, transfer.Stop{After: 15 * time.Second})
	time.AfterFunc(300*time.Millisecond, func() { _ = c.homes[1].Close() })
	results, errs := c.carry(t, 1)
	require.NoError(t, errs[0])
	require.NoError(t, errs[2])
	require.Equal(t, transfer.EndedPeerClosed, results[0].Ended, "%s", results[0].Detail)
	require.Equal(t, transfer.EndedPeerClosed, results[2].Ended, "%s", results[2].Detail)
}

func TestANeighbourThatIsNotThereIsNamed(t *testing.T) {
	c := newChain(t, 1, transfer.Stop{After: time.Second})
	require.NoError(t, c.homes[0].Close())
	require.NoError(t, c.homes[1].Ask(hop(1, netip.MustParseAddrPort("127.0.0.1:9"))))
	plan := c.plan(1)
	plan.Patience = 300 * time.Millisecond
	_, err := transfer.Carry(t.Context(), intcpsocket.NewRelay(plan))
	require.ErrorIs(t, err, intcpsocket.ErrUnreachable)
	require.ErrorContains(t, err, c.homes[0].Local().String())
	require.ErrorContains(t, err, c.homes[1].AskingFrom().String())
	require.Equal(t, "127.0.0.1", c.homes[1].AskingFrom().Addr().String(), "the address by the route")
}

func TestABudgetBreaksAFlowOff(t *testing.T) {
	c := newChain(t, 1, transfer.Stop{After: 10 * time.Minute})
	c.budget = transfer.NewBudget(3_000_000)
	c.limits.Deadline = time.Now().Add(20 * time.Minute)
	began := time.Now()
	results, _ := c.carry(t)
	require.Less(t, time.Since(began), 5*time.Minute)
	aborted := 0
	for _, result := range results {
		if result.Ended == transfer.EndedAborted {
			aborted++
			require.Contains(t, result.Detail, "3000000")
		}
	}
	require.NotZero(t, aborted)
}
