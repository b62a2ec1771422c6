package emulate

import (
	"bytes"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// FuzzReadTrace looks for a link trace that makes the reader panic.
func FuzzReadTrace(f *testing.F) {
	f.Add([]byte(traceHeading + "\nat_ms delay_ms\n0 20\n100 30\n"))
	f.Add([]byte(traceHeading + "\n# nothing\nat_ms rate_mbps delay_ms\n0 1 1\n"))
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
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = parseProfile("drawn.yaml", text, fstest.MapFS{}) })
}
