package agent

import (
	"time"

	"downlink/agents/internal/uplink"
)

// Hurry makes an agent's uploads try again at once.
func (a *Agent) Hurry() {
	a.backoff = func() *uplink.Backoff { return &uplink.Backoff{First: time.Millisecond, Max: time.Millisecond} }
}
