package trial

import (
	"context"
	"fmt"
	"time"

	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/intcp/intcpsocket"
	"downlink/agents/internal/server/linkcontrol"
	"downlink/agents/internal/server/protocol"
)

const (
	// rowPatience is how long no row of the log may come: they are 10 ms apart.
	rowPatience = 10 * time.Second
	// mostLateRatio is the share of rows with late packets above which a run says more of this machine than of the link.
	mostLateRatio = 0.05
	// mostLateMoments is the same of the moments of this agent's INTCP node: a machine that emulates a link carries its ends too.
	mostLateMoments = 0.05
)

// linkRun is an emulated link's part in a run; nil where the link is none, or no agent of ours sits beside it.
type linkRun struct {
	trial   *Trial
	client  *linkcontrol.Client
	started linkcontrol.Started
	ended   linkcontrol.Ended
	stats   tcpinfo.Stats
	err     error
	done    chan struct{} // closed when the log is over and all of it is kept; nil before the restart
}

// openLink takes the link before anything waits for this agent: a run whose link cannot be restarted is not begun.
func (t *Trial) openLink(ctx context.Context) (*linkRun, error) {
	path := t.env.Config.LinkControl
	if path == "" || t.order.LinkSeed == nil {
		return nil, nil // a real link is a good answer
	}
	client, err := linkcontrol.Open(ctx, path)
	if err != nil {
		return nil, linkFailed(path, err)
	}
	return &linkRun{trial: t, client: client}, nil
}

func linkFailed(path string, err error) error {
	return fail(protocol.ReasonLinkControl,
		"%v (%s, link_control in this agent's configuration; `downlink-agent link up --link-control` makes it)", err, path)
}

// restart lets the link's course begin at the run's zero, and keeps its log from there on.
func (l *linkRun) restart() (err error) {
	if l == nil {
		return nil
	}
	if l.started, err = l.client.Restart(l.trial.zero, *l.trial.order.LinkSeed, l.window()); err != nil {
		return linkFailed(l.trial.env.Config.LinkControl, err)
	}
	l.done = make(chan struct{})
	go func() {
		defer close(l.done)
		l.err = l.record()
	}()
	return nil
}

func (l *linkRun) window() *linkcontrol.Window {
	asked := l.trial.order.LinkWindow
	if asked == nil {
		return nil
	}
	return &linkcontrol.Window{Number: asked.Number, Of: asked.Of, LastsUs: int64(asked.LastsS * 1e6)}
}

// record ends with the log, or when it breaks off.
func (l *linkRun) record() (err error) {
	keep := func(block tcpinfo.Block) error { return l.trial.keep(0, protocol.PointLink, block) }
	recorder := tcpinfo.NewRecorder(l.started.Fields, chunk.MaxSamples, keep)
	l.ended, err = l.client.Rows(len(l.started.Fields), time.Until(l.trial.zero)+rowPatience, func(row []int64) error {
		copy(recorder.Row, row)
		recorder.Add()
		return nil
	})
	var kept error
	if l.stats, kept = recorder.Close(); kept != nil {
		return kept
	}
	return err
}

// end stops the log when the flows are over. A log that broke off does not spoil what was measured; a link that was late
// does.
func (l *linkRun) end(outcomes []protocol.Outcome) (*protocol.LinkOutcome, error) {
	if l == nil {
		return nil, nil
	}
	stopErr := l.client.Stop()
	<-l.done
	if l.err == nil {
		l.err = stopErr
	}
	flows, counted := l.countedFlows(outcomes)
	found := &protocol.LinkOutcome{
		Profile: l.client.Link.Profile, Seed: l.started.Seed, PhaseUs: l.started.PhaseUs, Samples: l.stats.Samples, Chunks: l.stats.Blocks,
		DroppedSamples: l.ended.DroppedRows, DrainedPackets: l.ended.DrainedPackets, LateSamples: l.ended.LateRows,
		LateLimitUs: l.ended.LateLimitUs, LatenessMaxUs: l.ended.MaxLateUs, Lost: l.losses(flows),
		CountedFlows: counted,
	}
	if path := l.started.Path; path != nil {
		found.Path = &protocol.LinkPath{Name: path.Name, SHA256: path.SHA256, AtUs: path.AtUs}
	}
	if l.err != nil {
		detail := fmt.Sprintf("the link's log ends early: %v", l.err)
		found.Detail, found.CountedFlows = &detail, []int{} // it has not counted everything
	}
	if float64(found.LateSamples) > mostLateRatio*float64(l.ended.Rows) {
		return found, fail(protocol.ReasonEmulatorLate,
			"the emulated link was late: in %d of %d moments packets left more than %s after their time, the worst %s; "+
				"let this machine do less beside the run",
			found.LateSamples, l.ended.Rows, time.Duration(found.LateLimitUs)*time.Microsecond, time.Duration(found.LatenessMaxUs)*time.Microsecond)
	}
	return found, nil
}

// checkNode fails a run over an emulated link whose INTCP node got too little of this machine: that looks like a slow
// transport. On a host of its own a node that is late is part of what is measured.
func (l *linkRun) checkNode(home *intcpsocket.Home) error {
	if l == nil || home == nil {
		return nil
	}
	late := home.Lateness()
	if float64(late.Late) <= mostLateMoments*float64(late.Moments) {
		return nil
	}
	return fail(protocol.ReasonEmulatorLate,
		"INTCP was late on this machine, which emulates the link: %d of %d moments came more than %s after their time, the worst %s; "+
			"let it do less beside the run",
		late.Late, late.Moments, intcpsocket.LateAfter, late.Most.Round(time.Millisecond))
}

// close gives the link back, however the run ended, and waits for what is being kept of its log.
func (l *linkRun) close() {
	if l == nil {
		return
	}
	_ = l.client.Close()
	if l.done != nil {
		<-l.done
	}
}
