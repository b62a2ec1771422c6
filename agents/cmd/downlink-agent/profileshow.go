package main

import (
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"downlink/agents/internal/emulate"
	"downlink/agents/internal/tcpmodel"
)

type profilesShowCmd struct {
	Profile string  `arg:"" help:"A link profile, or the path of a .yaml file."`
	Flows   int     `default:"30" help:"Number of flows, each from another moment of the link's course."`
	Window  float64 `default:"30" help:"Bytes that the receiver lets be in flight, in MB."`
}

// Run prints what the beginnings of flows see in virtual time. It needs no privileges and builds nothing.
func (c profilesShowCmd) Run() error {
	if c.Flows < 1 || c.Flows > 1000 || c.Window < 0.1 || c.Window > 1000 {
		return fmt.Errorf("from 1 to 1000 flows with windows of 0.1 to 1000 MB can be shown, not %d with %g", c.Flows, c.Window)
	}
	profile, err := emulate.LoadProfile(c.Profile)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "%s, %d flows in virtual time\tMEDIAN\tLEAST\tMOST\n", profile.Name, c.Flows)
	printDurations(table, "idle RTT, ms", time.Millisecond, emulate.IdleRtts(profile, profile.Seed, virtualProbes, probeSpacing, probeSize))
	for _, hasHyStart := range []bool{false, true} {
		c.printFlows(table, tcpmodel.Summarise(profile, c.Flows, int64(c.Window*1e6), hasHyStart), hasHyStart)
	}
	return table.Flush()
}

func (c profilesShowCmd) printFlows(table *tabwriter.Writer, s tcpmodel.Summary, hasHyStart bool) {
	kind := map[bool]string{false: "HyStart off: ", true: "HyStart on: "}[hasHyStart]
	for i, bytes := range tcpmodel.Objects {
		printDurations(table, fmt.Sprintf("%s%d MB after, s", kind, bytes/1e6), time.Second, s.ObjectTimes[i])
	}
	printDurations(table, kind+"first loss after, s", time.Second, s.FirstLosses)
	if !hasHyStart {
		printDurations(table, "the initial window's acknowledgements within, ms", time.Millisecond, s.InitialSpread)
		printValues(table, "acknowledgements in a burst, first 1.8 s", s.AcksABurst)
		return
	}
	printDurations(table, kind+"slow start left after, s", time.Second, s.Exits)
	_, _ = fmt.Fprintf(table, "%sleft by delay, by train, not left\t%d, %d, %d\t\t\n", kind,
		s.ExitsBy[tcpmodel.Delay], s.ExitsBy[tcpmodel.Train], s.ExitsBy[tcpmodel.None])
}

// printDurations leaves out what never came, and says how much that was.
func printDurations(table *tabwriter.Writer, name string, unit time.Duration, durations []time.Duration) {
	var values []float64
	for _, d := range durations {
		if d != emulate.Never {
			values = append(values, float64(d)/float64(unit))
		}
	}
	if never := len(durations) - len(values); never > 0 {
		name = fmt.Sprintf("%s (%d of %d did not)", name, never, len(durations))
	}
	printValues(table, name, values)
}

func printValues(table *tabwriter.Writer, name string, values []float64) {
	if len(values) == 0 {
		_, _ = fmt.Fprintf(table, "%s\t\t\t\n", name)
		return
	}
	slices.Sort(values)
	_, _ = fmt.Fprintf(table, "%s\t%.4g\t%.4g\t%.4g\n", name, values[len(values)/2], values[0], values[len(values)-1])
}
