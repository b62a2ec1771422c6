package trial

import (
	"errors"
	"time"

	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/server/protocol"
)

// errBudgetOver ends the other flows of a run whose budget is used up. They finish like the first: their samples are kept.
var errBudgetOver = errors.New("what was left for this run is used up")

// setBudget gives the run the least of three: what the owner allows a run, what the owner's month has left, and what the
// server's budgets leave. The first of them to be used up is a refusal of the owner's; the others end the run over_budget.
func (t *Trial) setBudget(now time.Time) {
	t.budget = transfer.NewBudget(t.env.Config.Policy.MaxBytes)
	left, err := t.env.Volume.Left(now)
	t.volumeError = err
	t.narrow(left, t.env.Volume.Limit())
	if ordered := t.order.Budget; ordered != nil {
		t.narrow(max(0, ordered.Bytes), serversLimit(ordered.Of))
	}
}

// narrow takes what a larger budget has left where that is less.
func (t *Trial) narrow(left int64, limit string) {
	if left < t.budget.Most() {
		t.budget, t.isRest = transfer.NewRest(left, limit), true
	}
}

// serversLimit says whose budget a server's order speaks of. A newer server may have others.
func serversLimit(of protocol.BudgetOf) string {
	switch of {
	case protocol.BudgetOfCampaign:
		return "the campaign has a limit (limits.bytes)"
	case protocol.BudgetOfLink:
		return "the link has an allowance per month"
	}
	return "the server has a budget"
}

// checkMonth refuses a run that asks for more bytes than the month has left. How many a run by seconds moves is not known
// before; it is broken off when they are used up.
func (t *Trial) checkMonth() error {
	if t.volumeError != nil {
		return fail(protocol.ReasonOverBudget, "what this host moved this month cannot be read: %v", t.volumeError)
	}
	if t.order.Stop.Bytes == nil {
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

// overBudget is the outcome of a flow that the month, or a budget of the server, ended. Each flow says which: the run's record
// has the words of one of them.
func (f *flowRun) overBudget(result transfer.Result) protocol.Outcome {
	result.Detail = f.trial.budget.Exceeded()
	outcome := f.outcome(result)
	outcome.Ended = protocol.EndedOverBudget
	return outcome
}
