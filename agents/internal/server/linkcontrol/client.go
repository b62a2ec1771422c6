package linkcontrol

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Client is an agent's session.
type Client struct {
	Link  Link
	conn  net.Conn
	lines *bufio.Reader
}

// Open takes the link's one session. ErrBusy: another has it.
func Open(ctx context.Context, path string) (*Client, error) {
	c, err := dial(ctx, path)
	if err != nil {
		return nil, err
	}
	greeting, err := c.next(time.Now().Add(AnswerLimit))
	if err == nil && greeting.Link == nil {
		err = errors.New("the link's control socket did not greet")
	}
	if err != nil {
		_ = c.conn.Close()
		return nil, err
	}
	c.Link = *greeting.Link
	return c, nil
}

// Describe asks what the link is, also while somebody has its session. When it returns, the session is free again.
func Describe(ctx context.Context, path string) (Link, error) {
	c, err := dial(ctx, path)
	if err != nil {
		return Link{}, err
	}
	defer func() { _ = c.conn.Close() }()
	greeting, err := c.next(time.Now().Add(AnswerLimit))
	switch {
	case greeting.Link != nil:
		return *greeting.Link, c.leave()
	case err == nil || errors.Is(err, ErrBusy): // links from before say no more to those who come second
		err = errors.New("the link's control socket does not say what the link is")
	}
	return Link{}, err
}

// leave gives back a session that was not used, and waits until the link has it back.
func (c *Client) leave() error {
	if conn, isUnix := c.conn.(*net.UnixConn); isUnix {
		_ = conn.CloseWrite()
	}
	_ = c.conn.SetReadDeadline(time.Now().Add(AnswerLimit))
	if _, err := io.Copy(io.Discard, c.lines); err != nil {
		return fmt.Errorf("leave the link's control socket: %w", err)
	}
	return nil
}

func dial(ctx context.Context, path string) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, AnswerLimit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("reach the link's control socket: %w", err)
	}
	return &Client{conn: conn, lines: bufio.NewReaderSize(conn, 4<<10)}, nil
}

// Restart begins a new course at a moment of this host's clock. Rows come from then on.
func (c *Client) Restart(at time.Time, seed uint64, window *Window) (Started, error) {
	if err := Send(c.conn, Request{Restart: &Restart{AtUnixUs: at.UnixMicro(), Seed: seed, Window: window}}); err != nil {
		return Started{}, fmt.Errorf("ask the link to restart: %w", err)
	}
	found, err := c.next(time.Now().Add(AnswerLimit))
	switch {
	case err != nil:
		return Started{}, err
	case found.Started == nil || len(found.Started.Fields) == 0:
		return Started{}, errors.New("the link did not say how it was restarted")
	}
	return *found.Started, nil
}

// Stop asks for the last rows and the summary.
func (c *Client) Stop() error { return Send(c.conn, Request{Stop: true}) }

// Rows gives each row to take, which must not keep it, until the link has sent its summary.
//
// Liveness: it ends with Close, and when no row comes for a while.
func (c *Client) Rows(fields int, patience time.Duration, take func(row []int64) error) (Ended, error) {
	for {
		found, err := c.next(time.Now().Add(patience))
		switch {
		case err != nil:
			return Ended{}, err
		case found.Ended != nil:
			return *found.Ended, nil
		case len(found.Row) != fields:
			return Ended{}, fmt.Errorf("the link sent a row of %d values where %d are named", len(found.Row), fields)
		}
		if err := take(found.Row); err != nil {
			return Ended{}, err
		}
	}
}

// Close gives the session back.
func (c *Client) Close() error { return c.conn.Close() }

func (c *Client) next(until time.Time) (found Answer, err error) {
	_ = c.conn.SetReadDeadline(until)
	line, err := readLine(c.lines)
	if err != nil {
		return found, fmt.Errorf("hear from the link's control socket: %w", err)
	}
	if err := json.Unmarshal(line, &found); err != nil {
		return found, fmt.Errorf("the link's control socket does not speak as expected: %w", err)
	}
	switch {
	case found.Busy:
		return found, ErrBusy
	case found.Error != "":
		return found, fmt.Errorf("the link refused: %s", found.Error)
	}
	return found, nil
}

func readLine(lines *bufio.Reader) (line []byte, err error) {
	for {
		piece, err := lines.ReadSlice('\n')
		if err == nil && line == nil {
			return piece, nil
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxAnswer {
			return nil, errors.New("a line is too long")
		}
	}
}
