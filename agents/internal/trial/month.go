package trial

import (
	"errors"
	"time"

	"downlink/agents/internal/protocol"
	"downlink/agents/internal/transfer"
)

// errMonthOver ends the other flows of a run whose month is used up. They finish like the first: their samples are kept.
var errMonthOver = errors.New("this host's volume of the month is used up")

// setBudget gives the run what it may move, and the rest of the month where that is less.
func (t *Trial) setBudget(now time.Time) {
	most := t.env.Config.Policy.MaxBytes
	left, err := t.env.Volume.Left(now)
	t.volumeError = err
	if t.isOfMonth = t.env.Config.Policy.MonthlyBytes > 0 && (most == 0 || left < most); t.isOfMonth {
		t.budget = transfer.NewMonthBudget(left, t.env.Volume.Limit())
		return
	}
	t.budget = transfer.NewBudget(most)
}

// checkMonth refuses a run that asks for more bytes than the month has left. How many a run by seconds moves is not known
// before; it is broken off when they are used up.
func (t *Trial) checkMonth() error {
	if t.volumeError != nil {
		return fail(protocol.ReasonOverBudget, "what this host moved this month cannot be read: %v", t.volumeError)
	}
	if !t.isOfMonth || t.order.Stop.Bytes == nil {
		return nil
	}
	left, err := t.env.Volume.Left(time.Now())
	if err != nil {
		return fail(protocol.ReasonOverBudget, "what this host moved this month cannot be read: %v", err)
	}
	// Divided rather than multiplied: the product may overflow.
	if flows := int64(len(t.order.Flows)); *t.order.Stop.Bytes > left/flows {
		return fail(protocol.ReasonOverBudget, "the run asks for %d flows of %d bytes; %s, and %d are left",
			flows, *t.order.Stop.Bytes, t.env.Volume.Limit(), left)
	}
	return nil
}

// overBudget is the outcome of a flow that the month's budget ended.
func (f *flowRun) overBudget(result transfer.Result) protocol.Outcome {
	if result.Detail == "" {
		result.Detail = errMonthOver.Error()
	}
	outcome := f.outcome(result)
	outcome.Ended = protocol.EndedOverBudget
	return outcome
}
