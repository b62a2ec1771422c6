package linkserver

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"downlink/agents/internal/server/linkcontrol"
)

const (
	// maxRequest is the longest line that the link reads.
	maxRequest = 1 << 10
	// idleLimit is how long a session may be there without a restart: longer than an agent waits for its start.
	idleLimit = 15 * time.Minute
	// mostAhead and mostBehind bound the moment of a restart, as agents bound that of a start.
	mostAhead, mostBehind = time.Minute, 10 * time.Second
	// mostConnections is how many may be open at once: one has the session, the others are being refused.
	mostConnections = 8
)

// Line is the link that a server speaks for.
type Line interface {
	// Describe may be called at any time, also while a session is there.
	Describe() linkcontrol.Link
	// Restart begins a new course at a moment, at once when it is past, and logs it. It returns when that is settled.
	Restart(at time.Time, seed uint64, window *linkcontrol.Window) (Session, error)
}

// Session is a course that is logged.
type Session interface {
	Started() linkcontrol.Started
	// Rows has no more to come once Stop was called and what waits was taken.
	Rows() <-chan []int64
	Stop()
	// Ended is known when Rows is empty and closed.
	Ended() linkcontrol.Ended
}

// Server answers at a unix socket that its owner alone may use.
type Server struct {
	handle   func(conn net.Conn) // a session
	listener net.Listener
	running  sync.WaitGroup
	taken    sync.Mutex // by the one session

	lock sync.Mutex
	open map[net.Conn]struct{}
	shut bool
}

// Listen makes the socket, in place of one that nobody listens at any more.
func Listen(path string, line Line) (*Server, error) {
	busy := func() linkcontrol.Answer { link := line.Describe(); return linkcontrol.Answer{Busy: true, Link: &link} }
	return listen(path, busy, func(s *Server, conn net.Conn) *linkcontrol.Answer { s.serve(conn, line); return nil })
}

// listen lets one connection at a time have a session. What that returns is said when the next one may begin. The others hear
// what busy returns.
func listen(
	path string, busy func() linkcontrol.Answer, session func(s *Server, conn net.Conn) (last *linkcontrol.Answer),
) (*Server, error) {
	if conn, err := net.Dial("unix", path); err == nil {
		_ = conn.Close()
		return nil, fmt.Errorf("another program listens at %s", path)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == os.ModeSocket {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove an old control socket: %w", err)
		}
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen at the link's control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("protect the link's control socket: %w", err), listener.Close())
	}
	s := &Server{listener: listener, open: map[net.Conn]struct{}{}}
	s.handle = func(conn net.Conn) {
		if !s.taken.TryLock() {
			_ = linkcontrol.Send(conn, busy())
			return
		}
		last := session(s, conn)
		s.taken.Unlock()
		if last != nil {
			_ = linkcontrol.Send(conn, *last)
		}
	}
	s.running.Go(s.accept)
	return s, nil
}

// Close ends the session there is and removes the socket.
func (s *Server) Close() error {
	err := s.listener.Close()
	s.lock.Lock()
	s.shut = true
	for conn := range s.open {
		_ = conn.Close()
	}
	s.lock.Unlock()
	s.running.Wait()
	return err
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors: others may close meanwhile
			time.Sleep(100 * time.Millisecond)
			continue
		}
		if !s.keep(conn) {
			_ = conn.Close()
			continue
		}
		s.running.Go(func() {
			defer s.drop(conn)
			s.handle(conn)
		})
	}
}

func (s *Server) keep(conn net.Conn) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.shut || len(s.open) >= mostConnections {
		return false
	}
	s.open[conn] = struct{}{}
	return true
}

func (s *Server) drop(conn net.Conn) {
	_ = conn.Close()
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.open, conn)
}

// serve is one session; whatever ends its connection ends it.
func (s *Server) serve(conn net.Conn, line Line) {
	link := line.Describe()
	if err := linkcontrol.Send(conn, linkcontrol.Answer{Link: &link}); err != nil {
		return
	}
	lines := bufio.NewReaderSize(conn, maxRequest)
	session, err := begin(conn, lines, line)
	if err != nil {
		_ = linkcontrol.Send(conn, linkcontrol.Answer{Error: err.Error()})
		return
	}
	defer session.Stop()
	started := session.Started()
	if err := linkcontrol.Send(conn, linkcontrol.Answer{Started: &started}); err != nil {
		return
	}
	s.running.Go(func() { // until the agent asks for the end, or is gone
		_, _ = receive(conn, lines, time.Time{})
		session.Stop()
	})
	if err := passRows(conn, session); err == nil {
		ended := session.Ended()
		_ = linkcontrol.Send(conn, linkcontrol.Answer{Ended: &ended})
	}
}

func begin(conn net.Conn, lines *bufio.Reader, line Line) (Session, error) {
	asked, err := receive(conn, lines, time.Now().Add(idleLimit))
	if err != nil {
		return nil, err
	}
	if asked.Restart == nil {
		return nil, errors.New("a session begins with a restart")
	}
	ahead := time.Until(time.UnixMicro(asked.Restart.AtUnixUs))
	if ahead > mostAhead || ahead < -mostBehind {
		return nil, fmt.Errorf("the moment of the restart is %s ahead; it may be from %s before now to %s after it", ahead, mostBehind, mostAhead)
	}
	return line.Restart(time.Now().Add(ahead), asked.Restart.Seed, asked.Restart.Window)
}

// passRows ends with the last row. After an error it goes on taking rows, so that none waits in vain.
func passRows(conn net.Conn, session Session) (err error) {
	for row := range session.Rows() {
		if err == nil {
			if err = linkcontrol.Send(conn, linkcontrol.Answer{Row: row}); err != nil {
				session.Stop()
			}
		}
	}
	return err
}

func receive(conn net.Conn, lines *bufio.Reader, until time.Time) (asked linkcontrol.Request, err error) {
	_ = conn.SetReadDeadline(until)
	return next(lines)
}

func next(lines *bufio.Reader) (asked linkcontrol.Request, err error) {
	line, err := lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return asked, fmt.Errorf("a request has at most %d bytes", lines.Size())
	}
	if err != nil {
		return asked, err
	}
	if err := json.Unmarshal(line, &asked); err != nil {
		return asked, fmt.Errorf("a request is a line of JSON: %w", err)
	}
	return asked, nil
}
