package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/agent/volume"
	"downlink/agents/internal/outside/dish"
	"downlink/agents/internal/outside/modempage"
	"downlink/agents/internal/outside/observe"
)

// checkMonth reads the count of the month as a run would.
func checkMonth(c config.Config, now time.Time) finding {
	if c.Policy.MonthlyBytes == 0 {
		return good("The owner does not bound what runs move in a month (monthly_bytes).")
	}
	month, err := volume.Open(c.StateDir, c.Policy.MonthlyBytes, c.Policy.ResetDay).Month(now.Local())
	if err != nil {
		return bad("What this host moved this month cannot be read, so it counts as used up and no run is taken until %s: %v. "+
			"Make the file readable for the agent, or correct it: %s holds the month's first day and the bytes. "+
			"Without the file the count begins at 0.",
			month.ResetsOn, err, filepath.Join(c.StateDir, volume.FileName))
	}
	used := fmt.Sprintf("%d of %d MB of this month are used (monthly_bytes)", month.Used/1e6, month.Limit/1e6)
	if month.Used >= month.Limit {
		return bad("%s: no run is taken until %s. Wait for that day, or raise monthly_bytes in the policy and restart the agent.",
			used, month.ResetsOn)
	}
	return good("%s; the next one begins on %s.", used, month.ResetsOn)
}

// checkObserved asks dish and modem once for what the agent would ask them for from time to time.
func checkObserved(ctx context.Context, o config.Observe) []finding {
	if !o.IsOn() {
		return []finding{good("Neither a dish nor a modem page is read (observe).")}
	}
	var findings []finding
	if o.Dish != "" {
		findings = append(findings, checkDish(ctx, o.Dish))
	}
	for _, path := range o.ModemPages {
		findings = append(findings, checkPage(ctx, path))
	}
	return findings
}

const dishHelp = "Check observe.dish in agent.yaml, that the dish has power, and that this host has a route to it which no firewall " +
	"closes (try `ping`; a dish is usually 192.168.100.1:9200)"

func checkDish(ctx context.Context, address string) finding {
	asked, err := dish.Open(address)
	if err != nil {
		return bad("The dish cannot be asked: %v. %s.", err, dishHelp)
	}
	defer func() { _ = asked.Close() }()
	found, err := dish.NewReader(asked).Read(ctx, time.Now())
	switch {
	case err != nil && len(found) == 0:
		return bad("The dish at %s does not answer: %s. %s.", address, inOneLine(err), dishHelp)
	case err != nil:
		return bad("The dish at %s answers in part, with %s; the rest is missing: %s. Its firmware may be older or newer than this agent: "+
			"report both versions.", address, shown(found), inOneLine(err))
	case len(found) == 0:
		return bad("The dish at %s answers, and none of its numbers is one that this agent knows. Its firmware may be newer: "+
			"upgrade the agent, or report both versions.", address)
	}
	return good("The dish at %s answers: %s.", address, shown(found))
}

func checkPage(ctx context.Context, path string) finding {
	page, err := modempage.Load(path)
	if err != nil {
		return bad("%s. The agent does not start with it: correct the file.", inOneLine(err))
	}
	found, err := modempage.NewReader(page).Read(ctx, time.Now())
	if err != nil {
		return bad("%s. Open %s in a browser on this network, and correct url, format and quantities in %s.", inOneLine(err), page.URL, path)
	}
	var missing []string
	for _, each := range page.Quantities {
		isFound := slices.ContainsFunc(found, func(o observe.Observation) bool { return o.Quantity == each.Quantity })
		if !isFound {
			missing = append(missing, each.Quantity)
		}
	}
	if len(missing) > 0 {
		return bad("The modem page %s answers, and %s are not on it, or are no numbers; it shows %s. Correct their json or pattern in %s.",
			page.Name, strings.Join(missing, ", "), shown(found), path)
	}
	return good("The modem page %s answers: %s.", page.Name, shown(found))
}

// shown are values for people.
func shown(found []observe.Observation) string {
	values := make([]string, 0, len(found))
	for _, each := range found {
		values = append(values, fmt.Sprintf("%s %g %s", each.Quantity, each.Value, each.Unit))
	}
	return strings.Join(values, ", ")
}

func inOneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
