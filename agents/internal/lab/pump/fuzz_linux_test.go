package pump

import (
	"testing"

	"downlink/agents/internal/testing/fuzztest"
)

// FuzzReceiverPort looks for a packet that makes the link panic when it asks whose it was.
func FuzzReceiverPort(f *testing.F) {
	ip4 := make([]byte, 60)
	ip4[0], ip4[9] = 0x45, 6
	ip6 := make([]byte, 60)
	ip6[0], ip6[6] = 0x60, 17
	fuzztest.Add(f, ip4, ip6, ip4[:20], ip6[:40])
	f.Fuzz(func(_ *testing.T, packet []byte) {
		_ = origin(packet)
		_ = receiverPort(packet, true)
		_ = receiverPort(packet, false)
	})
}
