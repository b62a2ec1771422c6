package pathrelay

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/testing/fuzztest"
)

// FuzzPackets looks for a packet on the link that makes the sites panic, or of which its two ends are read differently.
func FuzzPackets(f *testing.F) {
	from, to := netip.MustParseAddrPort("10.0.0.1:4000"), netip.MustParseAddrPort("10.0.0.2:5000")
	packet := make([]byte, headerBytes+40)
	putHeader(packet, from, to, 7)
	fuzztest.Add(f, packet)
	f.Fuzz(func(t *testing.T, data []byte) {
		_, isUDP := destination(data)
		_, payload, isSound := source(&emulate.Packet{Data: data, SizeBytes: len(data)})
		require.Equal(t, isUDP, isSound)
		if isSound {
			require.Len(t, payload, len(data)-headerBytes)
		}
	})
}
