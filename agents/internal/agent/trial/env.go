package trial

import (
	"net"
	"time"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/agent/volume"
	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
	"downlink/agents/internal/server/uplink"
)

// Controls is what a run needs of congestion control.
type Controls interface {
	// Check tells whether a control with these options can be used here, without any connection, and has it ready.
	Check(name string, options map[string]any) error
	// Set puts a connection under a control and returns what the kernel then uses.
	Set(conn *net.TCPConn, name string, options map[string]any) (actual string, err error)
	Actual(conn *net.TCPConn) (string, error)
	// Acks is where the per-ACK records of a control come from.
	Acks(name string) (acks.Source, error)
	// Release undoes what Check did to the kernel.
	Release() error
}

// ServerClock knows the server's clock.
type ServerClock interface {
	Estimate(now time.Time) (uplink.Estimate, bool)
}

// Env is what a run stands on.
type Env struct {
	Config   config.Config
	Version  string
	BootID   string
	Keeper   *settings.Keeper
	Spool    *spool.Spool
	Volume   *volume.Ledger
	Controls Controls
	Clock    ServerClock
	// FreeBytes is the room on the disk of the spool.
	FreeBytes func() (int64, error)
	// Report keeps an event until the server has accepted it.
	Report func(ref protocol.RunRef, event protocol.Event) error
}
