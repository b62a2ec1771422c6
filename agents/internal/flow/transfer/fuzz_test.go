package transfer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/testing/fuzztest"
)

// FuzzParseKey looks for a line of a sender that is taken for the key of a probe flow, and is none.
func FuzzParseKey(f *testing.F) {
	fuzztest.Add(f, []byte(newKey().line()))
	f.Fuzz(func(t *testing.T, line []byte) {
		key, err := parseKey(line)
		if err != nil {
			require.ErrorIs(t, err, ErrNoConnection)
			return
		}
		again, err := parseKey([]byte(key.line()))
		require.NoError(t, err)
		require.Equal(t, key, again)
	})
}

// FuzzProbe looks for a datagram that counts as a probe, and has a number or a time that none has.
func FuzzProbe(f *testing.F) {
	var k key
	datagram := make([]byte, ProbeBytes)
	k.write(datagram, 12, time.Millisecond)
	fuzztest.Add(f, datagram)
	f.Fuzz(func(t *testing.T, datagram []byte) {
		if number, held, isOurs := k.read(datagram); isOurs {
			require.True(t, number >= 0 && held >= 0)
		}
	})
}

// FuzzTicket looks for a text that is taken for a ticket, and would be more than a line where a receiver dials.
func FuzzTicket(f *testing.F) {
	fuzztest.Add(f, []byte("dlt_0123456789012345678901234567890123456789abc"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if IsTicket(string(text)) {
			require.Less(t, len(ticketLine(string(text))), lineLimit)
			require.NotContains(t, string(text), "\n")
		}
	})
}
