package calibration

import (
	"bytes"
	"testing"

	"downlink/agents/internal/testing/fuzztest"
)

// FuzzReadAcks looks for a recorded flow that makes the reader panic.
func FuzzReadAcks(f *testing.F) {
	fuzztest.Add(f, []byte("now_us,bytes_acked,mss,rtt_us\n0,1308,1308,700000\n40000,2616,1308,740000\n"),
		[]byte("now_us,bytes_acked,rtt_us,snd_una,snd_nxt\n0,1,2,3,4\n"))
	f.Fuzz(func(_ *testing.T, content []byte) { _, _ = ReadAcks(bytes.NewReader(content)) })
}
