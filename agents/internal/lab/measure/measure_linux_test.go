package measure

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// here is this host's loopback.
type here struct{}

func (here) Address() string                { return "127.0.0.1" }
func (here) Within(call func() error) error { return call() }

func TestProbesComeBack(t *testing.T) {
	idle, err := Probe(t.Context(), here{}, here{}, 5, time.Millisecond, 10*time.Second)
	require.NoError(t, err)
	require.Equal(t, 5, idle.Sent)
	require.Len(t, idle.Rtts, 5)
}

func TestAFlowHasARatePerSecond(t *testing.T) {
	loaded, err := Load(t.Context(), here{}, here{}, time.Second)
	require.NoError(t, err)
	require.Len(t, loaded.RateBps, 1)
	require.Positive(t, loaded.RateBps[0])
	require.Len(t, loaded.Rtts, 10)
}

func TestMeasuringEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Probe(ctx, here{}, here{}, 1000, time.Second, 0)
	require.ErrorIs(t, err, context.Canceled)
	_, err = Load(ctx, here{}, here{}, time.Hour)
	require.ErrorIs(t, err, context.Canceled)
}
