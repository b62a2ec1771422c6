package socket

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"downlink/agents/internal/testing/fuzztest"
)

// FuzzReadControl looks for control messages of a received datagram that make the reader panic, or hold it.
func FuzzReadControl(f *testing.F) {
	control := make([]byte, 24+32)
	binary.NativeEndian.PutUint64(control, 18)
	binary.NativeEndian.PutUint32(control[8:], unix.IPPROTO_UDP)
	binary.NativeEndian.PutUint32(control[12:], unix.UDP_GRO)
	binary.NativeEndian.PutUint64(control[24:], 32)
	binary.NativeEndian.PutUint32(control[32:], unix.SOL_SOCKET)
	binary.NativeEndian.PutUint32(control[36:], unix.SCM_TIMESTAMPNS)
	fuzztest.Add(f, control)
	f.Fuzz(func(t *testing.T, control []byte) {
		_, waited := readControl(control, time.Unix(1, 0))
		require.True(t, waited >= 0 && waited < time.Second)
	})
}

// FuzzBBRVersion looks for an answer to TCP_CC_INFO that makes the reader panic.
func FuzzBBRVersion(f *testing.F) {
	fuzztest.Add(f, make([]byte, bbr1Bytes), make([]byte, 64))
	f.Fuzz(func(_ *testing.T, info []byte) { _ = bbrVersion(info) })
}
