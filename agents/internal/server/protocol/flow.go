package protocol

import (
	"encoding/json"
)

// What orders say of a flow.

// Stop is the stop rule: exactly one of the two is set.
type Stop struct {
	Seconds *float64 `json:"seconds,omitempty"`
	Bytes   *int64   `json:"bytes,omitempty"`
}

// SamplingMode says when a sender records a flow's state.
type SamplingMode string

// Sampling says how senders record, and the intervals at which both ends poll.
type Sampling struct {
	Mode       SamplingMode `json:"mode"`
	SenderMs   int          `json:"sender_ms"`
	ReceiverMs int          `json:"receiver_ms"`
	// Deliveries asks for delivery tables of all flows; those of offers are kept anyway.
	Deliveries bool `json:"deliveries,omitempty"`
	// Sites asks the relays of an emulated link for tables of their sites.
	Sites bool `json:"sites,omitempty"`
}

// Flow is one flow as one agent must carry it out.
type Flow struct {
	Flow      int       `json:"flow"`
	Role      Role      `json:"role"`
	Transport Transport `json:"transport"`
	StartS    float64   `json:"start_s"`
	Ticket    string    `json:"ticket"`
	Sender    Peer      `json:"sender"`
	Receivers []Peer    `json:"receivers"`
	// Offer is what is written, and how often; nil: as fast as it goes.
	Offer *Offer `json:"offer,omitempty"`
	// Upstream and Downstream are the neighbours of this agent on a way over relays; nil without relays.
	Upstream   *Neighbour  `json:"upstream,omitempty"`
	Downstream []Neighbour `json:"downstream,omitempty"`
	// Place is a relay's own, from 1 at the sender's side; 0 for ends.
	Place int `json:"place,omitempty"`
	// ContentSeed is what an INTCP flow's bytes are made of: 16 hexadecimal digits, for its ends alone.
	ContentSeed string `json:"content_seed,omitempty"`
	// Content is the flow whose content an INTCP flow moves; 0: its own.
	Content int `json:"content,omitempty"`
}

// Offer is a message of MessageBytes every EveryMs.
type Offer struct {
	MessageBytes int `json:"message_bytes"`
	EveryMs      int `json:"every_ms"`
}

// Neighbour is the other end of a hop. Hop counts from 1 at the sender; Key is the hop's in this run, in hexadecimal.
type Neighbour struct {
	Peer
	Hop int    `json:"hop"`
	Key string `json:"key,omitempty"`
}

// Point is where this agent takes the flow's samples.
func (f Flow) Point() Point {
	if f.Role == RoleRelay {
		return PointHop(f.Place)
	}
	return At(f.Role)
}

// Peers are the agents at the other side of a flow.
func (f Flow) Peers() []Peer {
	if f.Role == RoleSender {
		return f.Receivers
	}
	return []Peer{f.Sender}
}

// Peer is an agent of a flow. Host is its data host, empty where the server does not know it.
type Peer struct {
	Agent string `json:"agent"`
	Host  string `json:"host,omitempty"`
}

// TransportKind names what carries a flow.
type TransportKind string

// Transport is what carries a flow, with the options of its kind.
type Transport struct {
	Kind          TransportKind  `json:"kind"`
	CC            string         `json:"cc"`
	Options       map[string]any `json:"options"`
	PacingRateBps *int64         `json:"pacing_rate_bps"`
	// EveryMs is the interval of a probe flow.
	EveryMs int `json:"every_ms"`
	// RelayCC is the control of each relay's connection onwards, of a split flow.
	RelayCC string `json:"relay_cc"`
}

// MarshalJSON writes what the kind takes.
func (t Transport) MarshalJSON() ([]byte, error) {
	carried := map[string]any{"kind": t.Kind}
	switch t.Kind {
	case TransportProbe:
		carried["every_ms"] = t.EveryMs
	case TransportINTCP:
		carried["options"] = t.Options
	case TransportSplit:
		carried["relay_cc"] = t.RelayCC
		fallthrough
	case TransportTCP:
		fallthrough
	default:
		carried["cc"], carried["options"], carried["pacing_rate_bps"] = t.CC, t.Options, t.PacingRateBps
	}
	return json.Marshal(carried)
}

// Name is what a flow's outcome and its reasons call the transport: the congestion control or, without one, the kind.
func (t Transport) Name() string {
	if t.Kind == TransportTCP || t.Kind == TransportSplit {
		return t.CC
	}
	return string(t.Kind)
}
