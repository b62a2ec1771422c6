package spool

import (
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/testing/fuzztest"
)

// FuzzUnframe looks for a chunk's file that is taken and is not what Put writes of its content.
func FuzzUnframe(f *testing.F) {
	fuzztest.Add(f, frame([]byte("some payload of a chunk")), frame(nil))
	f.Fuzz(func(t *testing.T, file []byte) {
		payload, err := unframe(file)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		require.Equal(t, file, frame(payload))
	})
}

// FuzzParseName looks for a file that counts as a chunk, which then is looked for under another name.
func FuzzParseName(f *testing.F) {
	fuzztest.Add(f, []byte(Key{Flow: 1, Point: "sender", Sequence: 12}.fileName()),
		[]byte(Key{Flow: 3, Point: "hop-2", Sequence: 0}.fileName()))
	f.Fuzz(func(t *testing.T, name []byte) {
		if key, isChunk := parseName(string(name)); isChunk {
			require.Equal(t, string(name), key.fileName())
		}
	})
}
