package socket

import (
	"slices"
	"testing"

	"downlink/agents/internal/testing/hosttest"

	"github.com/stretchr/testify/require"
)

func TestThisKernelsBBRIsTheFirst(t *testing.T) {
	sender, _ := hosttest.Connect(t)
	_, err := SetControl(sender, "bbr")
	require.NoError(t, err)
	version, err := BBRVersion(sender, "bbr")
	require.NoError(t, err)
	require.Equal(t, new(1), version)
	none, err := BBRVersion(sender, "cubic")
	require.NoError(t, err)
	require.Nil(t, none)
}

func TestBBRTellsWhatItMakesOfThePath(t *testing.T) {
	sender, receiver := hosttest.Connect(t)
	_, err := SetControl(sender, "bbr")
	require.NoError(t, err)
	hosttest.Send(t, sender, receiver, 1<<20)
	row := make([]int64, 4)
	ReadBBR(sender, row)
	require.Greater(t, row[0], int64(1_000_000), "bits per second")
	require.Greater(t, row[1], int64(0))
	require.Less(t, row[1], int64(1_000_000), "microseconds, over loopback")
	require.Contains(t, []int64{739, 88, 320, 256, 192}, row[2], "one of BBR's pacing gains, in 256ths")
	require.Contains(t, []int64{739, 512, 256}, row[3], "one of its window gains")
	before := slices.Clone(row)
	require.NoError(t, sender.Close())
	ReadBBR(sender, row)
	require.Equal(t, before, row, "a connection that has gone leaves the last row")
}

func TestBBRVersionsAreToldByWhatTheKernelSaysOfThem(t *testing.T) {
	third := make([]byte, 52)
	third[bbrVersionAt] = 3
	require.Equal(t, new(3), bbrVersion(third))
	require.Equal(t, new(1), bbrVersion(make([]byte, bbr1Bytes)))
	require.Nil(t, bbrVersion(make([]byte, 30)))
}
