package bpf

import (
	"testing"

	"downlink/agents/internal/testing/hosttest"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestWhatTheKernelSaysBecomesAReason(t *testing.T) {
	hosttest.NeedRoot(t)
	require.ErrorIs(t, Explain("load", "dl_x", unix.EPERM), ErrNoPrivilege)
	require.ErrorIs(t, Explain("load", "dl_x", unix.EACCES), ErrNoPrivilege)
	require.ErrorIs(t, Explain("load", "dl_x", ebpf.ErrNotSupported), ErrNotSupported)
	require.ErrorIs(t, Explain("load", "dl_x", btf.ErrNotFound), ErrNotSupported)
	require.ErrorIs(t, Explain("load", "dl_x", &ebpf.VerifierError{Cause: unix.EACCES, Log: []string{"invalid access"}}), ErrNotSupported)
	require.ErrorContains(t, Explain("load", "dl_x", unix.ENOMEM), "load dl_x: cannot allocate memory")
}
