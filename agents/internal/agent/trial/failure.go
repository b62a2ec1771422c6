package trial

import (
	"errors"
	"fmt"

	"downlink/agents/internal/host/diskfile"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
)

// Failure ends a run with a reason of the protocol and a sentence for people.
type Failure struct {
	Reason protocol.Reason
	Detail string
}

func (f *Failure) Error() string { return f.Detail }

func fail(reason protocol.Reason, format string, values ...any) *Failure {
	return &Failure{Reason: reason, Detail: fmt.Sprintf(format, values...)}
}

// Aborted ends a run because the server asked for it.
type Aborted struct{ Reason protocol.Reason }

func (a *Aborted) Error() string { return fmt.Sprintf("the server aborted the run: %s", a.Reason) }

var (
	// ErrStopping ends a run because the agent is told to stop.
	ErrStopping = errors.New("the agent was stopped during the run")
	// ErrPaused ends a run because the host's owner wants it to.
	ErrPaused = errors.New("this host's owner paused it during the run")
	// ErrLost ends a run that the server has taken away; nothing is reported.
	ErrLost = errors.New("the server has taken the run from this agent")
)

// asFailure gives every error a reason.
func asFailure(err error) *Failure {
	if failure, ok := errors.AsType[*Failure](err); ok {
		return failure
	}
	if diskfile.IsFull(err) {
		return &Failure{Reason: protocol.ReasonDiskFull, Detail: err.Error()}
	}
	for _, known := range []struct {
		target error
		reason protocol.Reason
	}{
		{ErrStopping, protocol.ReasonAgentRestarted},
		{ErrPaused, protocol.ReasonHostBusy},
		{settings.ErrBusy, protocol.ReasonHostBusy},
		{settings.ErrPending, protocol.ReasonNotRestored},
		{settings.ErrFailed, protocol.ReasonSettingFailed},
		{settings.ErrRefused, protocol.ReasonSettingRefused},
		{spool.ErrFull, protocol.ReasonDiskFull},
	} {
		if errors.Is(err, known.target) {
			return &Failure{Reason: known.reason, Detail: err.Error()}
		}
	}
	return &Failure{Reason: protocol.ReasonInternal, Detail: err.Error()}
}
