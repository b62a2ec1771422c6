package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sync/errgroup"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/agent/trial"
	"downlink/agents/internal/agent/volume"
	"downlink/agents/internal/host"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/server/linkcontrol"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
	"downlink/agents/internal/server/uplink"
)

// Agent carries out the orders of one server, one run at a time.
type Agent struct {
	config   config.Config
	version  string
	log      *slog.Logger
	client   *uplink.Client
	outbox   *uplink.Outbox
	gate     *uplink.Gate
	keeper   *settings.Keeper
	spool    *spool.Spool
	volume   *volume.Ledger
	controls trial.Controls
	bootID   string
	marker   marker
	pulse    pulse

	state *state

	// restsUntil, in Unix seconds, is the end of quiet hours into which a declined run would have lasted.
	restsUntil atomic.Int64
	// sendsSingly: the server takes one chunk a request.
	sendsSingly atomic.Bool
	// backoff paces the tries of a chunk.
	backoff func() *uplink.Backoff
	// sendEvery is between two tries to send what was observed of the link.
	sendEvery time.Duration
	// mostHold is how long that waits for runs of others, and heldSince since when it does; zero: it does not.
	mostHold  time.Duration
	heldSince time.Time
}

// Parts are what an Agent is made of besides its configuration.
type Parts struct {
	Version  string
	Log      *slog.Logger
	Identity config.Identity
	Host     settings.Host
	Controls trial.Controls
}

// New opens the agent's folders and restores nothing yet.
func New(c config.Config, parts Parts) (*Agent, error) {
	keeper, bootID, err := OpenKeeper(c, parts.Host)
	if err != nil {
		return nil, err
	}
	client, err := uplink.NewClient(c.Server, parts.Identity.Secret, c.CAFile, c.Proxy)
	if err != nil {
		return nil, err
	}
	client.Pace = uplink.NewPace(c.Policy.UploadBps)
	if client.Instance, err = instanceOf(c, bootID); err != nil {
		parts.Log.Warn("the server cannot tell this host from another one with its identity", "error", err)
	}
	outbox, err := uplink.OpenOutbox(filepath.Join(c.StateDir, "events"), parts.Log)
	if err != nil {
		return nil, err
	}
	chunks, err := spool.Open(filepath.Join(c.StateDir, "spool"), c.SpoolMaxBytes)
	if err != nil {
		return nil, err
	}
	return &Agent{
		config: c, version: parts.Version, log: parts.Log, client: client, outbox: outbox, gate: uplink.NewGate(),
		keeper: keeper, spool: chunks, volume: volume.Open(c.StateDir, c.Policy.MonthlyBytes, c.Policy.ResetDay), controls: parts.Controls,
		bootID: bootID,
		marker: marker{path: filepath.Join(c.StateDir, "run.json")}, pulse: pulse{patience: stuckAfter}, state: newState(),
		backoff: uplink.DefaultBackoff, sendEvery: sendEvery, mostHold: mostHold,
	}, nil
}

// OpenKeeper returns the keeper of this host's settings, in this process's network namespace.
func OpenKeeper(c config.Config, h settings.Host) (*settings.Keeper, string, error) {
	if err := os.MkdirAll(c.StateDir, 0o700); err != nil {
		return nil, "", fmt.Errorf("make state folder: %w", err)
	}
	bootID, err := settings.BootID()
	if err != nil {
		return nil, "", err
	}
	namespace, err := settings.Namespace()
	if err != nil {
		return nil, "", err
	}
	place := settings.Place{StateDir: c.StateDir, LockDir: c.LockDir, BootID: bootID, Namespace: namespace}
	return settings.NewKeeper(h, place), bootID, nil
}

// Run serves until the context ends or the server revokes this agent, and leaves the host as it was.
//
// Liveness: on cancellation the run under way is broken off and restored, which takes no longer than writing its
// settings; then undelivered events get a few seconds, and whatever is left is sent at the next start.
func (a *Agent) Run(ctx context.Context) error {
	if err := a.recover(); err != nil {
		a.log.Error("this host's settings are not as they were; no run is taken until they are", "error", err)
	}
	a.pulse.beat(time.Now(), 0)
	a.tellSystemd(daemon.SdNotifyReady)
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return a.outbox.Deliver(groupCtx, a.postEvent, a.lose) })
	group.Go(func() error { return a.pollAll(groupCtx) })
	group.Go(func() error { return a.watchRest(groupCtx) })
	group.Go(func() error { return a.watchHold(groupCtx) })
	group.Go(func() error { return a.watch(groupCtx) })
	group.Go(func() error { return a.watchLink(groupCtx) })
	err := group.Wait()
	a.tellSystemd(daemon.SdNotifyStopping)
	a.state.current().end(trial.ErrStopping)
	a.gate.Open()
	if errors.Is(err, uplink.ErrRevoked) {
		return err
	}
	a.flush()
	if ctx.Err() != nil {
		return nil //nolint:nilerr // told to stop, and stopped
	}
	return err
}

// recover puts back what an earlier process left changed, and reports the run that it was in.
func (a *Agent) recover() error {
	outcome, restoreErr := a.keeper.Restore()
	left, err := a.marker.read()
	if err != nil || left == nil {
		return errors.Join(restoreErr, err)
	}
	if left.Phase == phaseFinished {
		err = a.outbox.Add(left.RunRef, trial.RestoredEvent(left.RunRef, outcome, a.keeper.Snapshot("")))
	} else {
		err = a.outbox.Add(left.RunRef, protocol.Failed{
			EventHead: protocol.EventHead{Kind: protocol.KindFailed, Attempt: left.Attempt, At: protocol.Moment{Time: time.Now()}},
			Reason:    protocol.ReasonAgentRestarted,
			Detail: protocol.Sentence(strings.Join(append([]string{"the agent ended in the middle of the run and was started again"},
				outcome.Differences...), "; ")),
		})
	}
	if err != nil {
		return errors.Join(restoreErr, err)
	}
	return errors.Join(restoreErr, a.marker.clear())
}

// postEvent makes the agent poll at once when the event has arrived: the next order may follow from it.
func (a *Agent) postEvent(ctx context.Context, runID string, body []byte) error {
	err := a.gate.Pass(ctx, func(ctx context.Context) error { return a.client.PostEvent(ctx, runID, body) })
	if err == nil {
		a.state.say()
	}
	return err
}

// lose drops a run that the server has taken away.
func (a *Agent) lose(ref protocol.RunRef) {
	if t := a.state.current(); t.ref == ref {
		t.end(trial.ErrLost)
	}
}

// flushLimit is how long a stopping agent tries to deliver its last events.
const flushLimit = 3 * time.Second

func (a *Agent) flush() {
	if a.outbox.IsEmpty() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	go func() {
		for !a.outbox.IsEmpty() && ctx.Err() == nil {
			_ = uplink.Pause(ctx, 20*time.Millisecond)
		}
		cancel()
	}()
	_ = a.outbox.Deliver(ctx, a.client.PostEvent, func(protocol.RunRef) {})
}

// hostFacts are what the server plans with.
func (a *Agent) hostFacts() *protocol.Host {
	facts, err := HostFacts(a.config, a.keeper, a.bootID)
	if err != nil {
		a.log.Warn("some facts of this host cannot be read", "error", err)
	}
	if estimate, known := a.client.Clock.Estimate(time.Now()); known {
		facts.Clock = &protocol.ClockFacts{OffsetMs: milliseconds(estimate.Offset), ErrorMs: milliseconds(estimate.Error)}
	}
	facts.PathTrace = pathTrace(a.config.LinkControl)
	return &facts
}

// pathTrace is what the emulated link at a control socket flies along; nil where there is none, or the link is not up now.
func pathTrace(socket string) *protocol.PathTrace {
	if socket == "" {
		return nil
	}
	link, err := linkcontrol.Describe(context.Background(), socket)
	if err != nil || link.PathTrace == nil {
		return nil
	}
	return &protocol.PathTrace{Name: link.PathTrace.Name, LastsS: float64(link.PathTrace.LastsUs) / 1e6}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (a *Agent) freeBytes() (int64, error) { return host.FreeBytes(a.config.StateDir) }
