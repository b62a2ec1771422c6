package tcpmodel

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
)

const ms = time.Millisecond

// plain is a link without any chance: 100 Mb/s, 100 ms there and back.
func plain() emulate.Profile {
	way := emulate.Direction{
		Rate: emulate.Rate{ConstantBps: 100e6}, Queue: emulate.Queue{LimitBytes: 1e9}, Delay: emulate.Delay{BaseMs: 50},
	}
	return emulate.Profile{Name: "plain", Orbit: "GEO", Down: way, Up: way}
}

func run(profile emulate.Profile, options Options) Flow {
	options.Until = time.Minute
	return Run(emulate.New(profile, 1), options)
}

func TestWindowsDoubleFromTenSegmentsOn(t *testing.T) {
	flow := run(plain(), Options{Bytes: 70 * mssBytes, WindowBytes: 1e9})
	// Handshake and request take 150 ms, the data 50 ms; 10 + 20 + 40 segments then take two round trips more.
	require.InDelta(t, 150, flow.FirstByteAt.Milliseconds(), 1)
	require.InDelta(t, 200, flow.TimeTo(mssBytes).Milliseconds(), 1)
	require.InDelta(t, 300, flow.TimeTo(11*mssBytes).Milliseconds(), 2)
	require.InDelta(t, 400, flow.TimeTo(31*mssBytes).Milliseconds(), 4)
	require.InDelta(t, 400+40*0.12, flow.TimeTo(70*mssBytes).Milliseconds(), 6)
	require.Equal(t, emulate.Never, flow.TimeTo(71*mssBytes))
	require.Equal(t, emulate.Never, flow.FirstLossAt)
	require.Equal(t, None, flow.ExitBy)
}

func TestTheReceiversWindowBoundsWhatIsInFlight(t *testing.T) {
	flow := run(plain(), Options{Bytes: 10e6, WindowBytes: 100_000})
	// A window of 69 segments each 100 ms.
	require.InDelta(t, 69*mssBytes/0.1, float64(10e6)/(flow.TimeTo(10e6)-600*ms).Seconds(), 30_000)
	for _, ack := range flow.Acks {
		require.LessOrEqual(t, ack.SentBytes-ack.Bytes, int64(100_000))
	}
}

func TestAFullQueueIsTheFirstLoss(t *testing.T) {
	profile := plain()
	profile.Down.Queue.LimitBytes = 3_000_000 // more than the link holds, so that the flow fills it first
	flow := run(profile, Options{Bytes: 100e6, WindowBytes: 1e9, EndsAtLoss: true})
	require.NotEqual(t, emulate.Never, flow.FirstLossAt)
	last := flow.Acks[len(flow.Acks)-1]
	require.InDelta(t, 100+240, last.Rtt.Milliseconds(), 5, "the sender learns of it behind a full queue: 3 MB at 100 Mb/s")
	require.Equal(t, last.At, flow.FirstLossAt)
}

func TestHyStartLeavesWhenTheDelayGrows(t *testing.T) {
	// The window passes the bandwidth-delay product of 833 segments; a queue of 12.5 ms, an eighth of the RTT, is seen a round later.
	flow := run(plain(), Options{Bytes: 100e6, WindowBytes: 1e9, HasHyStart: true})
	require.NotEqual(t, None, flow.ExitBy)
	exit := flow.Acks[0]
	for _, ack := range flow.Acks {
		if ack.At <= flow.ExitAt {
			exit = ack
		}
	}
	require.Greater(t, exit.CwndSegments, int64(400))
	require.Less(t, exit.CwndSegments, int64(2600))
	require.Equal(t, emulate.Never, flow.FirstLossAt)
	require.GreaterOrEqual(t, flow.Acks[len(flow.Acks)-1].CwndSegments, exit.CwndSegments, "without a loss no window shrinks")
}

func TestALostHandshakeEndsTheFlow(t *testing.T) {
	profile := plain()
	profile.Up.Gap = &emulate.Gap{EveryS: 100, LengthMs: 99_000, IsLossy: true}
	flow := run(profile, Options{Bytes: 1e6, WindowBytes: 1e9})
	require.Empty(t, flow.Acks)
	require.Equal(t, emulate.Never, flow.TimeTo(1))
}
