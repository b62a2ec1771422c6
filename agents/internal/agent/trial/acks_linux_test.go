package trial_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/trial"
	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/flow/controls"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/hosttest"
)

// transferPerAck carries a flow over loopback whose sender is asked for every ACK.
func transferPerAck(t *testing.T, controls trial.Controls, cc string) (*rig, protocol.Outcome) {
	t.Helper()
	hosttest.NeedRoot(t)
	sender, receiver := newRig(t), newRig(t)
	sender.env.Controls = controls
	order := makeOrder(protocol.RoleSender)
	order.Sampling.Mode, order.Flows[0].Transport.CC = protocol.SamplingPerAck, cc
	// Loopback is faster than any ring is made for.
	order.Flows[0].Transport.PacingRateBps = new(int64(200e6))
	runBoth(t, sender, receiver, order, makeOrder(protocol.RoleReceiver))
	return sender, sender.outcome(t)
}

func (b *rig) firstChunk(t *testing.T) (chunk.Header, [][]int64) {
	t.Helper()
	keys := b.env.Spool.Keys(ref.RunID, ref.Attempt)
	require.NotEmpty(t, keys)
	packed, err := b.env.Spool.Get(keys[0])
	require.NoError(t, err)
	header, columns, err := chunk.Decode(packed)
	require.NoError(t, err)
	return header, columns
}

func TestEveryAckOfAFlowIsOnRecordWhereTheRunAsksForIt(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	hosttest.NeedRoot(t)
	for _, cc := range []string{"cubic", "dl_cubic_nohs"} {
		b, outcome := transferPerAck(t, &controls.Library{}, cc)
		require.Equal(t, protocol.SamplingPerAck, outcome.Sampling)
		require.Zero(t, outcome.DroppedSamples)
		require.Nil(t, outcome.Detail)
		header, columns := b.firstChunk(t)
		require.Equal(t, acks.Names, header.Fields)
		require.Equal(t, header.Samples, len(columns[0]))
		require.Greater(t, outcome.Samples, 10)
		require.Greater(t, columns[0][0], int64(0), "on the run's clock")
		require.LessOrEqual(t, columns[0][len(columns[0])-1], *outcome.LastByteUs+2e6)
		require.False(t, isOffered(t, "dl_cubic_nohs"))
	}
}

func TestWhereAcksCannotBeRecordedTheFlowIsPolledAndSaysWhy(t *testing.T) {
	b, outcome := transferPerAck(t, controls.Kernel{}, "cubic")
	require.Equal(t, protocol.SamplingPolled, outcome.Sampling)
	require.NotNil(t, outcome.Detail)
	require.Contains(t, *outcome.Detail, "TCP_INFO was polled, because")
	header, _ := b.firstChunk(t)
	require.NotContains(t, header.Fields, "ack_rtt_us")
	require.Contains(t, header.Fields, "busy_us")
}

func TestTracesOfBBRHoldItsState(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	hosttest.NeedRoot(t)
	for sampling, controls := range map[protocol.SamplingMode]trial.Controls{
		protocol.SamplingPolled: controls.Kernel{}, protocol.SamplingPerAck: &controls.Library{},
	} {
		b, outcome := transferPerAck(t, controls, "bbr")
		require.Equal(t, sampling, outcome.Sampling)
		header, columns := b.firstChunk(t)
		at := slices.Index(header.Fields, "bbr_bandwidth_bps")
		require.NotEqual(t, -1, at)
		require.Equal(t, []string{"bbr_bandwidth_bps", "bbr_min_rtt_us", "bbr_pacing_gain_256ths", "bbr_cwnd_gain_256ths"}, header.Fields[at:])
		for i, least := range []int64{1_000_000, 1, 64, 256} {
			require.GreaterOrEqual(t, slices.Max(columns[at+i]), least, header.Fields[at+i])
		}
	}
}

func TestRowsOfAcksHoldDocumentedFieldsOnly(t *testing.T) {
	var documented []string
	for _, field := range slices.Concat(tcpinfo.Fields, tcpinfo.AckFields) {
		documented = append(documented, field.Name)
	}
	require.Subset(t, documented, acks.Names)
}

func TestTheOutcomeTellsWhichBBRItWasAndHystartsExits(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	_, outcome := transferPerAck(t, controls.Kernel{}, "bbr")
	require.Equal(t, new(1), outcome.CCVersion)
	require.NotNil(t, outcome.HystartExits)
	require.GreaterOrEqual(t, outcome.HystartExits.Train, int64(0))
}
