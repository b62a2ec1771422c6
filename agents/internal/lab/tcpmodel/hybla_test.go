package tcpmodel

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
)

func TestHyblaGrowsByTheSquareOfItsRttOverTheReference(t *testing.T) {
	h := &hybla{srtt: 100 * ms, least: 100 * ms}
	require.EqualValues(t, 10+15, h.grown(10, 1000), "2^4 - 1 with each acknowledgement in slow start")
	require.EqualValues(t, 20, h.grown(10, 20), "no further than the threshold")
	cwnd := int64(160)
	for range 160 {
		cwnd = h.grown(cwnd, 100)
	}
	require.InDelta(t, 160+16, cwnd, 1, "16 segments in a round trip")
	h.hear(200 * ms)
	require.Equal(t, 100*ms, h.least, "a longer RTT changes nothing")
	for range 50 {
		h.hear(25 * ms)
	}
	require.InDelta(t, 26, h.least.Milliseconds(), 1)
	require.LessOrEqual(t, (&hybla{srtt: time.Second, least: time.Second}).grown(10, 1<<40), int64(hyblaMostWindow))
}

func TestALossHalvesHyblasWindow(t *testing.T) {
	c := newControl(Options{IsHybla: true, HasHyStart: true})
	c.cwnd = 1000
	c.lose(time.Second)
	require.EqualValues(t, 500, c.cwnd)
	require.EqualValues(t, 500, c.threshold)
	require.False(t, c.hasHyStart)
}

// As the kernel's does beside CUBIC over a long path (internal/flow/controls runs that one).
func TestHyblaIsFarAheadOfCubicOverALongPath(t *testing.T) {
	profile := plain()
	profile.Down.Delay.BaseMs, profile.Up.Delay.BaseMs = 300, 300
	profile.Down.Queue.LimitBytes = 10e6
	options := Options{Bytes: 1e9, WindowBytes: 30e6, HasHyStart: true, Until: 15 * time.Second}
	fast := options
	fast.IsHybla = true
	flows := RunTogether(emulate.New(profile, 1), options, fast)
	require.Greater(t, flows[1].RateBps(0, 8*time.Second), 3*flows[0].RateBps(0, 8*time.Second))
}
