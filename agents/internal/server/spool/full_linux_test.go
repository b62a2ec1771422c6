package spool_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/server/spool"
	"downlink/agents/internal/testing/hosttest"
)

func TestAFullDiskRefusesAChunkWholeAndTakesItOnceThereIsRoom(t *testing.T) {
	const chunkBytes = 100 << 10
	hosttest.OnSmallDisk(t, 256<<10, func(dir string) {
		s := open(t, dir)
		at := func(sequence int) spool.Key {
			next := key
			next.Sequence = sequence
			return next
		}
		require.NoError(t, s.Put(at(0), make([]byte, chunkBytes)))
		require.NoError(t, s.Put(at(1), make([]byte, chunkBytes)))
		require.ErrorIs(t, s.Put(at(2), make([]byte, chunkBytes)), syscall.ENOSPC)

		files, err := os.ReadDir(filepath.Dir(chunkPath(dir)))
		require.NoError(t, err)
		require.Len(t, files, 2, "no part of the third is left")
		for sequence := range 2 {
			payload, err := s.Get(at(sequence))
			require.NoError(t, err)
			require.Len(t, payload, chunkBytes)
		}
		require.NoError(t, s.Remove(at(0)))
		require.NoError(t, s.Put(at(2), make([]byte, chunkBytes)))
	})
}
