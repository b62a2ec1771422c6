package linkserver

import (
	"bufio"
	"errors"
	"net"
	"sync"
	"time"

	"downlink/agents/internal/server/linkcontrol"
)

// maxRelayRequest holds the hops and flows of any run.
const maxRelayRequest = 32 << 10

// RelayLine is a link with relays.
type RelayLine interface {
	DescribeSites() linkcontrol.Sites
	// Relay lets the relays work for a run.
	Relay(plan linkcontrol.RelayPlan) (RelaySession, error)
}

// RelaySession is a run at the relays.
type RelaySession interface {
	// Address is where neighbours reach the relays.
	Address() string
	Ask(hop linkcontrol.RelayHop) error
	// Measure asks for rows of the sites from a moment on.
	Measure(from time.Time)
	// News has no more to come after End.
	News() <-chan linkcontrol.RelayNews
	End()
}

// ListenRelays makes the socket of a link's relays.
func ListenRelays(path string, line RelayLine) (*Server, error) {
	busy := func() linkcontrol.Answer { return linkcontrol.Answer{Busy: true} }
	return listen(path, busy, func(s *Server, conn net.Conn) *linkcontrol.Answer { return s.relay(conn, line) })
}

// relay is one session; whatever ends its connection ends it. What it returns is the last that is said; nil: nobody listens.
func (s *Server) relay(conn net.Conn, line RelayLine) (last *linkcontrol.Answer) {
	sites := line.DescribeSites()
	if err := linkcontrol.Send(conn, linkcontrol.Answer{Sites: &sites}); err != nil {
		return nil
	}
	lines := bufio.NewReaderSize(conn, maxRelayRequest)
	asked, err := receive(conn, lines, time.Now().Add(linkcontrol.AnswerLimit))
	if err == nil && asked.Begin == nil {
		err = errors.New("a session begins with a plan")
	}
	var session RelaySession
	if err == nil {
		session, err = line.Relay(*asked.Begin)
	}
	if err != nil {
		return &linkcontrol.Answer{Error: err.Error()}
	}
	defer session.End()
	var writing sync.Mutex
	say := func(message linkcontrol.Answer) error {
		writing.Lock()
		defer writing.Unlock()
		return linkcontrol.Send(conn, message)
	}
	if err := say(linkcontrol.Answer{Begun: session.Address()}); err != nil {
		return nil
	}
	s.running.Go(func() { // until the agent asks for the end, or is gone
		defer session.End()
		for {
			asked, err := receive(conn, lines, time.Time{})
			if err != nil || asked.Ask == nil {
				return
			}
			reply := linkcontrol.Answer{Asked: true}
			if err := session.Ask(*asked.Ask); err != nil {
				reply = linkcontrol.Answer{Error: err.Error()}
			} else if asked.RowsFromUnixUs != 0 {
				session.Measure(time.Now().Add(time.Until(time.UnixMicro(asked.RowsFromUnixUs))))
			}
			if say(reply) != nil {
				return
			}
		}
	})
	for news := range session.News() {
		for _, message := range news.Answers() {
			if err == nil {
				if err = say(message); err != nil {
					session.End()
				}
			}
		}
	}
	return &linkcontrol.Answer{Gone: true}
}
