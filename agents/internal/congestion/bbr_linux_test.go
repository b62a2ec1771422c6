package congestion

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThisKernelsBBRIsTheFirst(t *testing.T) {
	sender, _ := pair(t)
	_, err := Set(sender, "bbr")
	require.NoError(t, err)
	version, err := BBRVersion(sender, "bbr")
	require.NoError(t, err)
	require.Equal(t, new(1), version)
	none, err := BBRVersion(sender, "cubic")
	require.NoError(t, err)
	require.Nil(t, none)
}

func TestBBRVersionsAreToldByWhatTheKernelSaysOfThem(t *testing.T) {
	third := make([]byte, 52)
	third[bbrVersionAt] = 3
	require.Equal(t, new(3), bbrVersion(third))
	require.Equal(t, new(1), bbrVersion(make([]byte, bbr1Bytes)))
	require.Nil(t, bbrVersion(make([]byte, 30)))
}
