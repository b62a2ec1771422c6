package linkcontrol

import (
	"bufio"
	"errors"
	"net"
	"sync"
	"time"

	"downlink/agents/internal/intcp"
)

// The relays of a link have a socket of their own. A connection is one run: the link says where it relays, is told for whom,
// answers with the address at which the relays are reached, is told whom to ask, and says what it sees until the run ends.

// maxRelayRequest holds the hops and flows of any run.
const maxRelayRequest = 32 << 10

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

// messages are what an agent is sent of it, each far below its bound.
func (n RelayNews) messages() (all []answer) {
	if n.Seen != nil {
		all = append(all, answer{Seen: n.Seen})
	}
	for _, rows := range n.Rows {
		for len(rows.Rows) > mostRows {
			part := rows
			part.Rows, rows.Rows = rows.Rows[:mostRows], rows.Rows[mostRows:]
			part.IsPart, rows.Missed = true, 0
			all = append(all, answer{Rows: &part})
		}
		all = append(all, answer{Rows: &rows})
	}
	return all
}

// RelayLine is a link with relays.
type RelayLine interface {
	DescribeSites() Sites
	// Relay lets the relays work for a run.
	Relay(plan RelayPlan) (RelaySession, error)
}

// RelaySession is a run at the relays.
type RelaySession interface {
	// Address is where neighbours reach the relays.
	Address() string
	Ask(hop RelayHop) error
	// Measure asks for rows of the sites from a moment on.
	Measure(from time.Time)
	// News has no more to come after End.
	News() <-chan RelayNews
	End()
}

// ListenRelays makes the socket of a link's relays.
func ListenRelays(path string, line RelayLine) (*Server, error) {
	busy := func() answer { return answer{Busy: true} }
	return listen(path, busy, func(s *Server, conn net.Conn) *answer { return s.relay(conn, line) })
}

// relay is one session; whatever ends its connection ends it. What it returns is the last that is said; nil: nobody listens.
func (s *Server) relay(conn net.Conn, line RelayLine) (last *answer) {
	sites := line.DescribeSites()
	if err := send(conn, answer{Sites: &sites}); err != nil {
		return nil
	}
	lines := bufio.NewReaderSize(conn, maxRelayRequest)
	asked, err := receive(conn, lines, time.Now().Add(answerLimit))
	if err == nil && asked.Begin == nil {
		err = errors.New("a session begins with a plan")
	}
	var session RelaySession
	if err == nil {
		session, err = line.Relay(*asked.Begin)
	}
	if err != nil {
		return &answer{Error: err.Error()}
	}
	defer session.End()
	var writing sync.Mutex
	say := func(message answer) error {
		writing.Lock()
		defer writing.Unlock()
		return send(conn, message)
	}
	if err := say(answer{Begun: session.Address()}); err != nil {
		return nil
	}
	s.running.Go(func() { // until the agent asks for the end, or is gone
		defer session.End()
		for {
			asked, err := receive(conn, lines, time.Time{})
			if err != nil || asked.Ask == nil {
				return
			}
			reply := answer{Asked: true}
			if err := session.Ask(*asked.Ask); err != nil {
				reply = answer{Error: err.Error()}
			} else if asked.RowsFromUnixUs != 0 {
				session.Measure(time.Now().Add(time.Until(time.UnixMicro(asked.RowsFromUnixUs))))
			}
			if say(reply) != nil {
				return
			}
		}
	})
	for news := range session.News() {
		for _, message := range news.messages() {
			if err == nil {
				if err = say(message); err != nil {
					session.End()
				}
			}
		}
	}
	return &answer{Gone: true}
}
