package protocol

import (
	"encoding/json"
	"fmt"
)

// Order is what the backend wants done next: *Prepare, *Go, *Abort, *Upload or *Discard.
type Order interface {
	// Ref names the attempt that the order speaks of.
	Ref() RunRef
	kind() string
}

// Ref names the attempt itself.
func (r RunRef) Ref() RunRef { return r }

// Prepare is a run as this agent must carry it out.
type Prepare struct {
	RunRef
	Roles     []Role            `json:"roles"`
	Stop      Stop              `json:"stop"`
	DeadlineS float64           `json:"deadline_s"`
	BaseRTTMs float64           `json:"base_rtt_ms"`
	Settings  map[string]string `json:"settings"`
	// LeavesUnset: a setting that this host cannot make stays as it is, and the run goes on.
	LeavesUnset bool     `json:"leaves_unset,omitempty"`
	Sampling    Sampling `json:"sampling"`
	// LinkSeed is what an emulated link is restarted with; nil: the link is none, or the server does not ask for it.
	LinkSeed *uint64 `json:"link_seed,omitempty"`
	// LinkWindow is what part of its path trace an emulated link flies; nil: the server does not say.
	LinkWindow *LinkWindow `json:"link_window,omitempty"`
	// Budget is what the server's budgets leave this agent for the run; nil: none of them limits it.
	Budget *Budget `json:"budget,omitempty"`
	Flows  []Flow  `json:"flows"`
}

// Budget is the most payload that an agent may send and receive in a run, over all its flows.
type Budget struct {
	Bytes int64    `json:"bytes"`
	Of    BudgetOf `json:"of"`
}

// BudgetOf says whose budget leaves so much.
type BudgetOf string

// The budgets that a server keeps.
const (
	BudgetOfCampaign BudgetOf = "campaign"
	BudgetOfLink     BudgetOf = "link"
)

// LinkWindow is one of several equal shares of a path trace, counted from 0, in which a run of at most LastsS has its place.
type LinkWindow struct {
	Number int     `json:"number"`
	Of     int     `json:"of"`
	LastsS float64 `json:"lasts_s"`
}

// Go gives the run its zero and receivers their data addresses by flow number.
type Go struct {
	RunRef
	StartAt Moment         `json:"start_at"`
	Peers   map[int]string `json:"peers"`
}

// Abort stops a run and asks for its restoration.
type Abort struct {
	RunRef
	Reason Reason `json:"reason"`
}

// Upload says that no run holds the link: the attempt's chunks may be sent.
type Upload struct {
	RunRef
}

// Discard says that the attempt's chunks are not wanted.
type Discard struct {
	RunRef
	Reason Reason `json:"reason"`
	// Delete: they may be deleted; else they are set aside.
	Delete bool `json:"delete"`
}

func (Prepare) kind() string { return "prepare" }
func (Go) kind() string      { return "go" }
func (Abort) kind() string   { return "abort" }
func (Upload) kind() string  { return "upload" }
func (Discard) kind() string { return "discard" }

func newOrder(kind string) (Order, error) {
	switch kind {
	case "prepare":
		return &Prepare{}, nil
	case "go":
		return &Go{}, nil
	case "abort":
		return &Abort{}, nil
	case "upload":
		return &Upload{}, nil
	case "discard":
		return &Discard{}, nil
	}
	return nil, fmt.Errorf("unknown order %q: this agent is older than its server", kind)
}

// PollResponse carries at most one order.
type PollResponse struct {
	// Protocol is the server's version; 0 for a server of version 1, which does not say it.
	Protocol  int
	ServerNow Moment
	Order     Order
	// HoldUpload: a run holds a link that this agent's upload crosses, or its host. The upload of an earlier run ends.
	HoldUpload bool
}

type rawPollResponse struct {
	Protocol  int              `json:"protocol"`
	ServerNow Moment           `json:"server_now"`
	Order     *json.RawMessage `json:"order"`
	// HoldUpload is left out where it is false.
	HoldUpload bool `json:"hold_upload,omitempty"`
}

// UnmarshalJSON picks the order's type by its kind.
func (p *PollResponse) UnmarshalJSON(data []byte) error {
	var raw rawPollResponse
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	p.Protocol, p.ServerNow, p.Order, p.HoldUpload = raw.Protocol, raw.ServerNow, nil, false
	if p.Protocol != Version {
		return nil // its orders may mean something else
	}
	p.HoldUpload = raw.HoldUpload
	if raw.Order == nil {
		return nil
	}
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(*raw.Order, &head); err != nil {
		return fmt.Errorf("read order: %w", err)
	}
	order, err := newOrder(head.Kind)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(*raw.Order, order); err != nil {
		return fmt.Errorf("read order %s: %w", head.Kind, err)
	}
	p.Order = order
	return nil
}

// MarshalJSON puts the kind beside the order's own fields.
func (p PollResponse) MarshalJSON() ([]byte, error) {
	raw := rawPollResponse{Protocol: p.Protocol, ServerNow: p.ServerNow, HoldUpload: p.HoldUpload}
	if p.Order != nil {
		order, err := withKind(p.Order)
		if err != nil {
			return nil, err
		}
		raw.Order = &order
	}
	return json.Marshal(raw)
}

func withKind(order Order) (json.RawMessage, error) {
	data, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	fields["kind"] = json.RawMessage(fmt.Sprintf("%q", order.kind()))
	return json.Marshal(fields)
}
