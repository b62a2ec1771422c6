package trial

import (
	"downlink/agents/internal/host"
	"downlink/agents/internal/server/protocol"
)

// hystartCount is a reading of the host's counters; the kernel has none per socket.
type hystartCount struct {
	exits   host.HystartExits
	isKnown bool
}

func countHystart() hystartCount {
	exits, isKnown := host.ReadHystartExits()
	return hystartCount{exits, isKnown}
}

// since is nil where either reading failed.
func (h hystartCount) since(before hystartCount) *protocol.HystartExits {
	if !h.isKnown || !before.isKnown {
		return nil
	}
	return &protocol.HystartExits{Train: h.exits.Train - before.exits.Train, Delay: h.exits.Delay - before.exits.Delay}
}
