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
)

// crowd is one content on its way from a sender over a relay to several receivers: a flow for each of them.
type crowd struct {
	homes   []*intcpsocket.Home // sender, relay, receivers
	budgets []*transfer.Budget  // of each home
	content intcp.Content
	begin   time.Time
}

func newCrowd(t *testing.T, receivers int, bytes uint64, options intcp.Options) *crowd {
	t.Helper()
	c := &crowd{content: testContent}
	c.content.Length = bytes
	for i := range receivers + 2 {
		plan := intcpsocket.Plan{Run: testRun, Options: options, Policy: intcp.DefaultPolicy(), Asks: i > 0}
		switch i {
		case 0:
			plan.Address, plan.Serves = "127.0.0.1:0", []intcp.Hop{hop(1, netip.AddrPort{})}
		case 1:
			plan.Address = "127.0.0.1:0"
			for j := range receivers {
				plan.Serves = append(plan.Serves, hop(j+2, netip.AddrPort{}))
			}
		}
		home, err := intcpsocket.Open(plan)
		require.NoError(t, err)
		t.Cleanup(func() { _ = home.Close() })
		c.homes, c.budgets = append(c.homes, home), append(c.budgets, transfer.NewBudget(0))
	}
	require.NoError(t, c.homes[1].Ask(hop(1, c.homes[0].Local())))
	for j := range receivers {
		require.NoError(t, c.homes[0].Publish(c.content, intcp.Stream{Seed: 5}))
		require.NoError(t, c.homes[j+2].Ask(hop(j+2, c.homes[1].Local())))
	}
	c.begin = time.Now().Add(20 * time.Millisecond)
	return c
}

func (c *crowd) plan(i int) intcpsocket.FlowPlan {
	plan := intcpsocket.FlowPlan{
		Home: c.homes[i], Content: c.content, IsShared: true, Stop: transfer.Stop{Bytes: int64(c.content.Length)},
		Limits: transfer.Limits{Deadline: c.begin.Add(20 * time.Second)}, Begin: c.begin, Patience: 5 * time.Second,
		AppBytes: new(atomic.Int64), Budget: c.budgets[i], Sample: func(ctx context.Context) { <-ctx.Done() },
	}
	if i != 1 {
		plan.Stream = intcp.Stream{Seed: 5}
	}
	return plan
}

func (c *crowd) carry(t *testing.T) []transfer.Result {
	t.Helper()
	var carriers []transfer.Carrier
	for j := range len(c.homes) - 2 {
		carriers = append(carriers, intcpsocket.NewSender(c.plan(0)), intcpsocket.NewRelay(c.plan(1)), intcpsocket.NewReceiver(c.plan(j+2)))
	}
	results, errs := make([]transfer.Result, len(carriers)), make([]error, len(carriers))
	var all sync.WaitGroup
	for i := range carriers {
		all.Go(func() { results[i], errs[i] = transfer.Carry(t.Context(), carriers[i]) })
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	return results
}

// TestBytesOfASharedContentAreChargedOnce: as many as a node has counted, however many flows look at them.
func TestBytesOfASharedContentAreChargedOnce(t *testing.T) {
	const bytes = 2_000_000
	for name, shares := range map[string]bool{"caches": true, "no caches": false} {
		t.Run(name, func(t *testing.T) {
			options := intcp.DefaultOptions()
			options.SharesCache = shares
			c := newCrowd(t, 3, bytes, options)
			for _, result := range c.carry(t) {
				require.Equal(t, transfer.EndedStopRule, result.Ended, result.Detail)
			}
			sent, _ := c.homes[0].Look(c.content)
			passed, _ := c.homes[1].Look(c.content)
			require.GreaterOrEqual(t, passed.PassedBytes, uint64(3*bytes))
			require.EqualValues(t, sent.PassedBytes, c.budgets[0].Used())
			require.EqualValues(t, passed.ArrivedBytes+passed.PassedBytes, c.budgets[1].Used())
			for i, budget := range c.budgets[2:] {
				came, _ := c.homes[i+2].Look(c.content)
				require.LessOrEqual(t, budget.Used(), int64(came.ArrivedBytes))
				require.GreaterOrEqual(t, budget.Used(), int64(bytes))
			}
		})
	}
}

// TestABudgetEndsAContentThatIsSentAgain: three receivers without caches take it thrice.
func TestABudgetEndsAContentThatIsSentAgain(t *testing.T) {
	options := intcp.DefaultOptions()
	options.SharesCache = false
	c := newCrowd(t, 3, 2_000_000, options)
	c.budgets[0] = transfer.NewBudget(3_000_000)
	aborted := 0
	for _, result := range c.carry(t) {
		if result.Ended == transfer.EndedAborted {
			aborted++
			require.Contains(t, result.Detail, "3000000")
		}
	}
	require.NotZero(t, aborted)
}
