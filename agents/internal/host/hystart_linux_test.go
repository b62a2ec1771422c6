package host

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCountersAreReadByNameAndGroup(t *testing.T) {
	content := "TcpExt: SyncookiesSent TCPHystartTrainDetect\nTcpExt: 3 7\nIpExt: InOctets\nIpExt: 9\n"
	require.Equal(t, map[string]int64{"SyncookiesSent": 3, "TCPHystartTrainDetect": 7}, netstat(content, "TcpExt:"))
	require.Empty(t, netstat("TcpExt: A B\nTcpExt: 1\n", "TcpExt:"), "a torn file tells nothing")
}

func TestThisKernelCountsHystartsExits(t *testing.T) {
	exits, known := ReadHystartExits()
	require.True(t, known)
	require.GreaterOrEqual(t, exits.Train, int64(0))
}
