package tcpinfo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/testing/fuzztest"
)

// FuzzDecode looks for bytes and a length of tcp_info that make the reader panic, or a value that nothing can be.
func FuzzDecode(f *testing.F) {
	for _, length := range []int{0, 1, 104, 192, 232, 248, 280, 512} { // of kernels, and beyond the longest known one
		blob := make([]byte, length)
		for i := range blob {
			blob[i] = byte(i*7 + 1)
		}
		fuzztest.Add(f, blob)
	}
	f.Fuzz(func(t *testing.T, blob []byte) {
		for _, end := range []tcpinfo.Ends{tcpinfo.EndsSender, tcpinfo.EndsReceiver} {
			layout := tcpinfo.NewLayout(end, len(blob))
			names := layout.Names()
			row := make([]int64, len(names))
			layout.Decode(blob, 1, 2, row)
			for i, value := range row {
				require.True(t, value >= 0 || names[i] == "pacing_rate_bps" && value == -1, "%s is %d", names[i], value)
			}
		}
	})
}
