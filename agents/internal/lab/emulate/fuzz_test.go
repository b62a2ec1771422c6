package emulate

import (
	"bytes"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/testing/fuzztest"
)

// FuzzReadTrace looks for a link trace that makes the reader panic.
func FuzzReadTrace(f *testing.F) {
	samples := [][]byte{
		[]byte(traceHeading + "\nat_ms,delay_ms\n0,20\n100,30\n"),
		[]byte(traceHeading + "\n# nothing\nat_ms,rate_bps,loss_ratio\n0,1e6,0.5\n20,0,0\n"),
	}
	for _, each := range samples {
		_, err := ReadTrace(bytes.NewReader(each))
		require.NoError(f, err)
	}
	fuzztest.Add(f, samples...)
	f.Fuzz(func(_ *testing.T, content []byte) { _, _ = ReadTrace(bytes.NewReader(content)) })
}

// FuzzParseProfile looks for a link profile that makes the reader panic.
func FuzzParseProfile(f *testing.F) {
	names, err := fs.Glob(embedded, "profiles/*.yaml")
	require.NoError(f, err)
	require.NotEmpty(f, names)
	for _, name := range names {
		text, err := fs.ReadFile(embedded, name)
		require.NoError(f, err)
		fuzztest.Add(f, text)
	}
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = parseProfile("drawn.yaml", text, fstest.MapFS{}) })
}

// FuzzConvert looks for files of packet opportunities and delays that make the reader panic, or take memory for a day of nothing.
func FuzzConvert(f *testing.F) {
	fuzztest.Add(f, []byte("0\n1\n1\n15\n40\n"), []byte("20\n25\n20\n"))
	f.Fuzz(func(_ *testing.T, content []byte) {
		_, _ = Convert(bytes.NewReader(content), nil)
		_, _ = Convert(nil, bytes.NewReader(content))
		_, _ = Convert(bytes.NewReader(content), bytes.NewReader(content))
	})
}

// FuzzReadPureAck looks for a packet that makes the thinning of acknowledgements panic, or take more for one than the packet holds.
func FuzzReadPureAck(f *testing.F) {
	ip4 := make([]byte, 52)
	ip4[0], ip4[3], ip4[9], ip4[32], ip4[33] = 0x45, 52, protocolTCP, 8<<4, flagACK
	copy(ip4[40:], []byte{optionPad, optionPad, 8, 10})
	ip6 := make([]byte, 60)
	ip6[0], ip6[6], ip6[52], ip6[53] = 0x60, protocolTCP, 5<<4, flagACK
	fuzztest.Add(f, ip4, ip6)
	for _, each := range [][]byte{ip4, ip6} {
		_, isOne := readPureAck(each)
		require.True(f, isOne)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if ack, isOne := readPureAck(data); isOne {
			require.False(t, ack.makesNeedless(ack), "the same acknowledgement again is a duplicate")
		}
	})
}
