package protocol_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/server/protocol"
)

func TestASentenceIsOneThatAServerTakes(t *testing.T) {
	for text, want := range map[string]string{
		"two\nlines\tof \"text\" ☃":        "two\nlines\tof \"text\" ☃",
		"\x1b[31mred\x07\r\x7f\u0085":      "\ufffd[31mred\ufffd\ufffd\ufffd\ufffd",
		"turned \u202e, ended \u2028":      "turned \ufffd, ended \ufffd",
		"no text \xff":                     "no text \ufffd",
		strings.Repeat("☃", 2000):          strings.Repeat("☃", 2000),
		strings.Repeat("☃", 2001):          strings.Repeat("☃", 1999) + "…",
		strings.Repeat("\x00", 50_000)[:3]: "\ufffd\ufffd\ufffd",
	} {
		require.Equal(t, want, protocol.Sentence(text))
	}
}
