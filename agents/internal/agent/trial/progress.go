package trial

import (
	"maps"
	"net"
	"slices"
	"time"

	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/intcp/intcpsocket"
	"downlink/agents/internal/server/protocol"
)

// What is seen of a run while it is on.

// Progress is what a sender tells while data flows, and nil otherwise.
func (t *Trial) Progress(now time.Time) *protocol.Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.zero.IsZero() || len(t.sent) == 0 {
		return nil
	}
	elapsed, bytes := max(0, now.Sub(t.zero).Seconds()), int64(0)
	for _, counter := range t.sent {
		bytes += counter.Load()
	}
	if bytes == 0 {
		return nil
	}
	return &protocol.Progress{ElapsedS: &elapsed, Bytes: &bytes, Flows: t.look()}
}

// look reads every connection that still is one. The caller holds the lock.
func (t *Trial) look() []protocol.FlowProgress {
	flows := []protocol.FlowProgress{}
	for _, flow := range slices.Sorted(maps.Keys(t.conns)) {
		seen, err := tcpinfo.Look(t.conns[flow])
		if err != nil {
			continue // it has ended
		}
		flows = append(flows, protocol.FlowProgress{
			Flow: flow, AckedBytes: seen.AckedBytes, RTTUs: seen.RTTUs, CwndBytes: seen.CwndSegments * seen.MSSBytes,
		})
	}
	for _, flow := range slices.Sorted(maps.Keys(t.contents)) {
		if seen, isAsked := t.contents[flow](); isAsked {
			flows = append(flows, seen)
		}
	}
	return flows
}

// showContent lets the progress look at what a flow sends over INTCP from now on.
func (t *Trial) showContent(flow protocol.Flow, home *intcpsocket.Home) {
	content := t.content(flow)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.contents[flow.Flow] = func() (protocol.FlowProgress, bool) {
		l, _ := home.Look(content)
		return protocol.FlowProgress{
			Flow: flow.Flow, AckedBytes: int64(l.PassedBytes), RTTUs: l.RTT.Microseconds(), CwndBytes: int64(l.GrantedBps / 8 * l.RTT.Seconds()),
		}, l.Readers > 0
	}
}

// show lets the progress look at a flow's connection from now on.
func (t *Trial) show(flow int, conn *net.TCPConn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conns[flow] = conn
}
