package congestion

import (
	"fmt"
	"net"
)

// Controls are the congestion controls that the running kernel has.
type Controls struct{}

// Check tells whether a control can be used here. The kernel's own controls take no options.
func (Controls) Check(name string, options map[string]any) error {
	if len(options) > 0 {
		return fmt.Errorf("%w: %q takes no options on this host", ErrUnavailable, name)
	}
	return Check(name)
}

// Set puts a connection under a control and returns what the kernel then uses.
func (Controls) Set(conn *net.TCPConn, name string, _ map[string]any) (string, error) {
	return Set(conn, name)
}

// Actual returns the congestion control that a connection uses.
func (Controls) Actual(conn *net.TCPConn) (string, error) { return Actual(conn) }

// Acks is not possible: nothing is loaded.
func (Controls) Acks(string) (AckSource, error) {
	return nil, fmt.Errorf("%w: nothing is loaded that could record", ErrNotSupported)
}

// Release has nothing to undo.
func (Controls) Release() error { return nil }
