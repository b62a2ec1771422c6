package linkcontrol

import (
	"encoding/json"
	"errors"
	"net"
	"time"
)

// Messages are lines of JSON over a stream socket. A connection is one session: the link greets, is asked to restart,
// answers, sends rows until it is asked to stop, and ends with a summary. There is one session at a time.

const (
	// maxAnswer is the longest line that an agent reads.
	maxAnswer = 1 << 20
	// AnswerLimit is how long either side waits for the other to take or send a line.
	AnswerLimit = 5 * time.Second
)

// ErrBusy means that another session has the link.
var ErrBusy = errors.New("another run or program has the link's control socket")

// Link is what a link says of itself before anything is asked.
type Link struct {
	Name    string `json:"name"`
	Profile string `json:"profile"`
	// PathTrace is what the link flies along; nil: it has no path through satellites.
	PathTrace *PathTrace `json:"path_trace,omitempty"`
}

// PathTrace says which path trace a link replays, and how long it is.
type PathTrace struct {
	Name    string `json:"name"`
	LastsUs int64  `json:"lasts_us"`
}

// Started says how a link was restarted.
type Started struct {
	Seed uint64 `json:"seed"`
	// PhaseUs is where in its course the link is at the run's zero.
	PhaseUs int64 `json:"phase_us"`
	// Path is the stretch that the link flies; nil: it has no path through satellites.
	Path *Path `json:"path,omitempty"`
	// Fields are the names of the values of each row, elapsed_us first.
	Fields []string `json:"fields"`
}

// Path is a path trace, and where in it the course begins.
type Path struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	AtUs   int64  `json:"at_us"`
}

// Window is one of several equal shares of a link's path trace, counted from 0, and what the run needs of it at most. A link
// without a path has no use for it.
type Window struct {
	Number  int   `json:"number"`
	Of      int   `json:"of"`
	LastsUs int64 `json:"lasts_us"`
}

// Lost counts packets that a link lost for one cause. ReceiverPort is that of the flow at the receiver at the link's end, also
// of what relays at its sites carry there; 0: it is of no such flow, or of none that is known.
type Lost struct {
	Way          string `json:"way"`
	Cause        string `json:"cause"`
	ReceiverPort int    `json:"receiver_port"`
	Packets      uint64 `json:"packets"`
}

// Ended is what there was of a session.
type Ended struct {
	Rows        uint64 `json:"rows"`
	DroppedRows uint64 `json:"dropped_rows"`
	// DrainedPackets were inside at the restart, and left the link by its old course.
	DrainedPackets int `json:"drained_packets"`
	// LateRows are those before which a packet left more than LateLimitUs after its moment; MaxLateUs is the worst.
	LateRows    uint64 `json:"late_rows"`
	LateLimitUs int64  `json:"late_limit_us"`
	MaxLateUs   int64  `json:"max_late_us"`
	Lost        []Lost `json:"lost"`
	// MixesHops: packets of flows over relays inside the link have no port in Lost, because those of several receivers cannot be
	// told apart on the hops that they share, or because hosts at its routers pass them on over connections of their own.
	MixesHops bool `json:"mixes_hops,omitempty"`
}

// Restart asks for a new course from a moment on.
type Restart struct {
	AtUnixUs int64  `json:"at_unix_us"`
	Seed     uint64 `json:"seed"`
	// Window is what part of a path trace is flown; nil: the seed says where it begins.
	Window *Window `json:"window,omitempty"`
}

// Request is one of its fields.
type Request struct {
	Restart *Restart `json:"restart,omitempty"`
	Stop    bool     `json:"stop,omitempty"`

	Begin *RelayPlan `json:"begin,omitempty"`
	Ask   *RelayHop  `json:"ask,omitempty"`
	// RowsFromUnixUs is with Ask: the run's zero, from which on rows of the sites are wanted; 0: none are.
	RowsFromUnixUs int64 `json:"rows_from_unix_us,omitempty"`
	End            bool  `json:"end,omitempty"`
}

// Answer is one of its fields. Busy comes with Link, where the socket is that of a link's course.
type Answer struct {
	Link    *Link    `json:"link,omitempty"`
	Started *Started `json:"started,omitempty"`
	Row     []int64  `json:"row,omitempty"`
	Ended   *Ended   `json:"ended,omitempty"`
	Busy    bool     `json:"busy,omitempty"`

	Sites *Sites      `json:"sites,omitempty"`
	Begun string      `json:"begun,omitempty"`
	Asked bool        `json:"asked,omitempty"`
	Seen  []RelaySeen `json:"seen,omitempty"`
	Rows  *SiteRows   `json:"rows,omitempty"`
	Gone  bool        `json:"gone,omitempty"`

	Error string `json:"error,omitempty"`
}

// Send puts a message on its way, a line of JSON.
func Send(conn net.Conn, message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_ = conn.SetWriteDeadline(time.Now().Add(AnswerLimit))
	_, err = conn.Write(append(text, '\n'))
	return err
}
