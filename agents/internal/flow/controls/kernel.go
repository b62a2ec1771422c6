package controls

import (
	"fmt"
	"net"

	"downlink/agents/internal/bpf"
	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/flow/socket"
)

// Kernel offers the congestion controls that the running kernel has.
type Kernel struct{}

// Check tells whether a control can be used here. The kernel's own controls take no options.
func (Kernel) Check(name string, options map[string]any) error {
	if len(options) > 0 {
		return fmt.Errorf("%w: %q takes no options on this host", socket.ErrUnavailable, name)
	}
	return socket.CheckControl(name)
}

// Set puts a connection under a control and returns what the kernel then uses.
func (Kernel) Set(conn *net.TCPConn, name string, _ map[string]any) (string, error) {
	return socket.SetControl(conn, name)
}

// Actual returns the congestion control that a connection uses.
func (Kernel) Actual(conn *net.TCPConn) (string, error) { return socket.ActualControl(conn) }

// Acks is not possible: nothing is loaded.
func (Kernel) Acks(string) (acks.Source, error) {
	return nil, fmt.Errorf("%w: nothing is loaded that could record", bpf.ErrNotSupported)
}

// Release has nothing to undo.
func (Kernel) Release() error { return nil }
