package uplink

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/hosttest"
)

func TestAnEventThatFindsNoRoomIsDeliveredAllTheSame(t *testing.T) {
	hosttest.OnSmallDisk(t, 64<<10, func(dir string) {
		o := openOutbox(t, filepath.Join(dir, "events"))
		require.NoError(t, o.Add(ref, event(protocol.KindReady)))
		filler, err := os.Create(filepath.Join(dir, "filler"))
		require.NoError(t, err)
		_, err = filler.Write(make([]byte, 64<<10))
		require.Error(t, err, "the disk is full")
		require.NoError(t, filler.Close())
		require.NoError(t, o.Add(ref, event(protocol.KindFailed)))

		ctx, cancel := context.WithCancel(t.Context())
		posted := 0
		_ = o.Deliver(ctx, func(context.Context, string, []byte) error {
			if posted++; posted == 2 {
				cancel()
			}
			return nil
		}, func(protocol.RunRef) {})
		require.Equal(t, 2, posted)
		require.True(t, o.IsEmpty())
		files, err := os.ReadDir(filepath.Join(dir, "events"))
		require.NoError(t, err)
		require.Empty(t, files)
	})
}
