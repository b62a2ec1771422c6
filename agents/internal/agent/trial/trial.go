package trial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/host"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/server/protocol"
)

// Trial is one attempt at one run.
type Trial struct {
	env   Env
	order *protocol.Prepare
	// status is told of every change of what the trial is doing.
	status func(protocol.Status)
	start  chan *protocol.Go
	// budget is that of all flows together. isRest: of the month or of the server, and not the owner's for one run.
	budget      *transfer.Budget
	isRest      bool
	volumeError error

	// recorded is what there is of the flows once they are over.
	recorded protocol.Recorded

	mu   sync.Mutex
	zero time.Time
	sent map[int]*atomic.Int64
	// conns are the connections over which this agent sends, by flow.
	conns map[int]*net.TCPConn
	// contents are those that this agent sends over INTCP, by flow.
	contents map[int]func() (seen protocol.FlowProgress, isAsked bool)
}

// New returns a trial that has not begun.
func New(env Env, order *protocol.Prepare, status func(protocol.Status)) *Trial {
	t := &Trial{
		env: env, order: order, status: status, start: make(chan *protocol.Go, 1), sent: map[int]*atomic.Int64{}, conns: map[int]*net.TCPConn{},
		contents: map[int]func() (protocol.FlowProgress, bool){},
	}
	t.setBudget(time.Now())
	for _, flow := range order.Flows {
		if flow.Role == protocol.RoleSender {
			t.sent[flow.Flow] = new(atomic.Int64)
		}
	}
	return t
}

// Ref names the attempt.
func (t *Trial) Ref() protocol.RunRef { return t.order.RunRef }

// Deadline is how long after its zero the run may last.
func (t *Trial) Deadline() time.Duration {
	return time.Duration(t.order.DeadlineS * float64(time.Second))
}

// Receives tells whether this agent is at a receiving end of the run.
func (t *Trial) Receives() bool { return slices.Contains(t.order.Roles, protocol.RoleReceiver) }

// Go gives the run its zero. Only the first call counts.
func (t *Trial) Go(order *protocol.Go) {
	select {
	case t.start <- order:
	default:
	}
}

// Run carries the attempt out and puts the host back as it was, whatever happens. The context's cause says why a run
// is broken off: *Aborted, ErrStopping or ErrLost.
//
// It returns nil when the host is restored, and what is wrong otherwise.
func (t *Trial) Run(ctx context.Context) error {
	err := t.carryOut(ctx)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	t.status(protocol.StatusRestoring)
	outcome, restoreErr := t.env.Keeper.Restore()
	restoreErr = errors.Join(restoreErr, t.env.Controls.Release())
	if reportErr := t.reportEnd(err, outcome); reportErr != nil {
		return errors.Join(restoreErr, reportErr)
	}
	return restoreErr
}

// reportEnd tells how the attempt ended: a finished or aborted one by what the host is like now, a failed one by its
// reason.
func (t *Trial) reportEnd(err error, outcome settings.Outcome) error {
	var aborted *Aborted
	switch {
	case errors.Is(err, ErrLost):
		return nil
	case err == nil:
		return t.reportRestored(outcome, protocol.Recorded{})
	case errors.As(err, &aborted):
		return t.reportRestored(outcome, t.begun())
	}
	failure := asFailure(err)
	if outcome.IsRestored {
		return t.reportFailed(failure)
	}
	failed := t.reportFailed(fail(protocol.ReasonNotRestored, "%s; and then the host's settings could not be put back", failure.Detail))
	return errors.Join(failed, t.reportRestored(outcome, protocol.Recorded{}))
}

func (t *Trial) carryOut(ctx context.Context) error {
	t.status(protocol.StatusPreparing)
	if err := t.check(); err != nil {
		return err
	}
	before := t.snapshot()
	wanted, err := t.wanted()
	if err != nil {
		return err
	}
	if err := t.apply(wanted); err != nil {
		return err
	}
	ports, err := t.openPorts(ctx)
	if err != nil {
		return err
	}
	defer ports.close()
	link, err := t.openLink(ctx)
	if err != nil {
		return err
	}
	defer link.close()
	if err := t.reportReady(before, ports); err != nil {
		return err
	}
	t.status(protocol.StatusReady)
	peers, err := t.awaitGo(ctx)
	if err != nil {
		return err
	}
	if err := link.restart(); err != nil {
		return err
	}
	t.status(protocol.StatusRunning)
	if err := t.askUpstream(ports, peers); err != nil {
		return err
	}
	settle, err := t.env.Volume.Meter(time.Now(), t.budget.Used)
	if err != nil {
		return fail(protocol.ReasonOverBudget, "what this host moves cannot be counted: %v", err)
	}
	outcomes, err := t.runFlows(ctx, ports, peers)
	err = errors.Join(err, settle())
	weather, linkErr := link.end(outcomes)
	t.recorded = protocol.Recorded{Flows: outcomes, Link: weather}
	if err = errors.Join(err, linkErr, link.checkNode(ports.home)); err != nil {
		return err
	}
	return t.reportFinished()
}

func (t *Trial) check() error {
	if err := checkOrder(t.order, t.env.Config); err != nil {
		return err
	}
	if err := t.checkMonth(); err != nil {
		return err
	}
	free, err := t.env.FreeBytes()
	if err != nil {
		return fail(protocol.ReasonDiskFull, "the spool's disk cannot be read: %v", err)
	}
	lasts, _ := duration(t.order, t.env.Config.Policy)
	if err := checkDisk(t.order, lasts, free); err != nil {
		return err
	}
	if err := checkClock(t.env.Clock, time.Now()); err != nil {
		return err
	}
	for _, flow := range t.order.Flows {
		cc, options := sendingControl(flow)
		if cc == "" {
			continue
		}
		if err := t.env.Controls.Check(cc, options); err != nil {
			return fail(protocol.ReasonCCUnavailable, "%v", err)
		}
	}
	return nil
}

// sendingControl is the congestion control of what this agent sends of a flow, empty where it sends none over TCP.
func sendingControl(flow protocol.Flow) (cc string, options map[string]any) {
	switch transport := flow.Transport; {
	case transport.Kind != protocol.TransportTCP && transport.Kind != protocol.TransportSplit:
		return "", nil
	case flow.Role == protocol.RoleSender:
		return transport.CC, transport.Options
	case flow.Role == protocol.RoleRelay:
		return transport.RelayCC, nil
	}
	return "", nil
}

// openPort returns nil when this agent sends nothing over TCP.
func (t *Trial) openPort() (*transfer.Port, error) {
	plan := transfer.PortPlan{Address: t.listenAddress(t.env.Config.DataPort), Tickets: map[int]string{}, Prepare: socket.StartPlain}
	for _, flow := range t.order.Flows {
		if flow.Role != protocol.RoleReceiver && flow.Transport.Kind != protocol.TransportINTCP {
			plan.Tickets[flow.Flow] = flow.Ticket
			for _, peer := range downstream(flow) {
				plan.PeerHosts = append(plan.PeerHosts, peer.Host)
			}
		}
	}
	if len(plan.Tickets) == 0 {
		return nil, nil // no port is a good answer
	}
	port, err := transfer.OpenPort(plan)
	if err != nil {
		return nil, fail(protocol.ReasonPortFailed, "%v", err)
	}
	return port, nil
}

// listenAddress is the data host where that is an address of this host; behind a NAT it is not.
func (t *Trial) listenAddress(port int) string {
	address := ""
	if host.HasAddress(t.env.Config.DataHost) {
		address = t.env.Config.DataHost
	}
	return net.JoinHostPort(address, strconv.Itoa(port))
}

const (
	// goLimit is how long a prepared agent keeps its host changed without a word from the server.
	goLimit = 10 * time.Minute
	// lateLimit is how much after its moment a run may still begin: the other end waits that long.
	lateLimit = 10 * time.Second
	// aheadLimit is how long before its moment a start may be known: the host stays changed that long.
	aheadLimit = time.Minute
)

// awaitGo waits for the start and sets the run's zero.
func (t *Trial) awaitGo(ctx context.Context) (map[int]string, error) {
	timer := time.NewTimer(goLimit)
	defer timer.Stop()
	select {
	case order := <-t.start:
		return order.Peers, errors.Join(t.checkPeers(order.Peers), t.setZero(order.StartAt.Time))
	case <-timer.C:
		return nil, fail(protocol.ReasonLeaseExpired, "no start came within %s after this agent was ready", goLimit)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (t *Trial) setZero(startAt time.Time) error {
	now := time.Now()
	estimate, known := t.env.Clock.Estimate(now)
	if !known {
		return fail(protocol.ReasonClockUnsure, "the server's clock is no longer known here")
	}
	zero := estimate.Local(startAt)
	switch late := now.Sub(zero); {
	case late > lateLimit:
		return fail(protocol.ReasonDeadline, "the start came %s after its moment", late.Round(time.Millisecond))
	case late < -aheadLimit:
		return fail(protocol.ReasonDeadline, "the start lies more than %s ahead; a prepared host does not wait so long", aheadLimit)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.zero = zero
	return nil
}

func describe(flow protocol.Flow) string {
	names := make([]string, 0, 1)
	for _, peer := range neighbours(flow) {
		names = append(names, peer.Agent)
	}
	return fmt.Sprintf("flow %d with %s", flow.Flow, strings.Join(names, ", "))
}
