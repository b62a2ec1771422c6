package linkcontrol

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"downlink/agents/internal/intcp"
)

// errRelaysGone means that the link has ended, or the relays' session with it.
var errRelaysGone = errors.New("the link's relays have gone")

// RelayClient is an agent's run at the relays of a link.
type RelayClient struct {
	Sites   Sites
	Address string

	contents []intcp.Name
	conn     net.Conn
	done     chan struct{} // closed when nothing more is heard
	asked    chan error

	mu      sync.Mutex
	seen    map[intcp.Name]RelaySeen
	readers map[intcp.Name][]*RowReader
	err     error
}

// OpenRelays lets the relays of a link work for a run. ErrBusy: another run has them.
func OpenRelays(ctx context.Context, path string, plan RelayPlan) (*RelayClient, error) {
	ctx, cancel := context.WithTimeout(ctx, AnswerLimit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("reach the relays' control socket: %w", err)
	}
	c := &Client{conn: conn, lines: bufio.NewReaderSize(conn, 64<<10)}
	r := &RelayClient{contents: plan.Contents, conn: conn, done: make(chan struct{}), asked: make(chan error, 1),
		seen: map[intcp.Name]RelaySeen{}, readers: map[intcp.Name][]*RowReader{}}
	if err := r.begin(c, plan); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	go r.listen(c)
	return r, nil
}

func (r *RelayClient) begin(c *Client, plan RelayPlan) error {
	greeting, err := c.next(time.Now().Add(AnswerLimit))
	if err == nil && greeting.Sites == nil {
		err = errors.New("the relays' control socket did not greet")
	}
	if err != nil {
		return err
	}
	r.Sites = *greeting.Sites
	if err := Send(r.conn, Request{Begin: &plan}); err != nil {
		return fmt.Errorf("tell the link's relays of the run: %w", err)
	}
	begun, err := c.next(time.Now().Add(AnswerLimit))
	if err == nil && begun.Begun == "" {
		err = errors.New("the link's relays did not say where they are")
	}
	r.Address = begun.Begun
	return err
}

// seenPatience is how long nothing may be heard of relays that say something each 10 ms.
const seenPatience = 10 * time.Second

// listen ends with the session.
func (r *RelayClient) listen(c *Client) {
	defer close(r.done)
	for {
		found, err := c.next(time.Now().Add(seenPatience))
		isRefused := found.Error != ""
		switch {
		case isRefused || err == nil && found.Asked:
			select {
			case r.asked <- err:
			default: // an answer that nobody waits for
			}
		case err != nil || found.Gone:
			r.fail(err)
			return
		case found.Rows != nil:
			r.keepRows(found.Rows)
		default:
			r.mu.Lock()
			for i := range min(len(found.Seen), len(r.contents)) {
				r.seen[r.contents[i]] = found.Seen[i]
			}
			r.mu.Unlock()
		}
	}
}

func (r *RelayClient) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err = err; err == nil {
		r.err = errRelaysGone
	}
}

// Ask names the neighbour upstream. rowsFrom is the run's zero, from which on rows of the sites are wanted; the zero time: none
// are. A link from before they were kept sends none.
func (r *RelayClient) Ask(hop RelayHop, rowsFrom time.Time) error {
	asked := Request{Ask: &hop}
	if !rowsFrom.IsZero() {
		asked.RowsFromUnixUs = rowsFrom.UnixMicro()
	}
	if err := Send(r.conn, asked); err != nil {
		return fmt.Errorf("tell the link's relays whom to ask: %w", err)
	}
	select {
	case err := <-r.asked:
		return err
	case <-r.done:
		return r.Err()
	}
}

// Seen is what was seen of a content last.
func (r *RelayClient) Seen(name intcp.Name) RelaySeen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[name]
}

// IsMet tells whether the neighbour upstream has ever answered.
func (r *RelayClient) IsMet() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, seen := range r.seen {
		if seen.IsMet {
			return true
		}
	}
	return false
}

// At is a moment of the relays' clock on this host's.
func (r *RelayClient) At(moment time.Duration) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, seen := range r.seen {
		return time.Unix(0, seen.UnixNs).Add(moment - seen.Now)
	}
	return time.Time{}
}

// Err is nil while the relays are there.
func (r *RelayClient) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close ends the run at the relays.
func (r *RelayClient) Close() error {
	_ = Send(r.conn, Request{End: true})
	select {
	case <-r.done:
	case <-time.After(time.Second):
	}
	return r.conn.Close()
}
