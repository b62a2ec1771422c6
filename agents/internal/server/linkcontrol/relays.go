package linkcontrol

import (
	"time"

	"downlink/agents/internal/intcp"
)

// The relays of a link have a socket of their own. A connection is one run: the link says where it relays, is told for whom,
// answers with the address at which the relays are reached, is told whom to ask, and says what it sees until the run ends.

// Sites say what a link's relays are.
type Sites struct {
	Link    string `json:"link"`
	Profile string `json:"profile"`
	// Most is at how many places between two hops a packet passes at most.
	Most int `json:"most"`
}

// RelayPlan says what run the relays of a link are for.
type RelayPlan struct {
	Run     uint64        `json:"run,string"`
	Options intcp.Options `json:"options"`
	Policy  intcp.Policy  `json:"policy"`
	Serves  []RelayHop    `json:"serves"`
	// Contents are what is looked at.
	Contents []intcp.Name `json:"contents"`
	// Port is where neighbours reach the relays; 0: any.
	Port int `json:"port"`
}

// RelayHop is a neighbour. Peer is the address and port of one that is asked; of one that asks its address, so that a link
// with several receivers knows where it is attached, or nothing.
type RelayHop struct {
	Number uint16    `json:"number"`
	Key    intcp.Key `json:"key"`
	Peer   string    `json:"peer,omitempty"`
}

// RelaySeen is a content at the relays at a moment of their clock, which is one of this host's.
type RelaySeen struct {
	Now    time.Duration    `json:"now"`
	UnixNs int64            `json:"unix_ns"`
	Look   intcp.Look       `json:"look"`
	Hop    intcp.HopCounts  `json:"hop"`
	Node   intcp.NodeCounts `json:"node"`
	IsMet  bool             `json:"is_met"`
	Sites  int              `json:"sites"`
}

// RelayNews is what the relays see at a moment.
type RelayNews struct {
	// Seen has all contents, as they stand.
	Seen []RelaySeen
	// Rows has all contents too, at moments of rows.
	Rows []SiteRows
}

// mostRows is how many rows one message has at most.
const mostRows = 1000

// Answers are what an agent is sent of it, each far below its bound.
func (n RelayNews) Answers() (all []Answer) {
	if n.Seen != nil {
		all = append(all, Answer{Seen: n.Seen})
	}
	for _, rows := range n.Rows {
		for len(rows.Rows) > mostRows {
			part := rows
			part.Rows, rows.Rows = rows.Rows[:mostRows], rows.Rows[mostRows:]
			part.IsPart, rows.Missed = true, 0
			all = append(all, Answer{Rows: &part})
		}
		all = append(all, Answer{Rows: &rows})
	}
	return all
}
