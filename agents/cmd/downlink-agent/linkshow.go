package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/measure"
	"downlink/agents/internal/lab/netlab"
)

type linkShowCmd struct {
	Name    string  `arg:"" optional:"" help:"Running link that no run uses; its hosts' TCP settings are not changed. Or a link profile: show its statistics in virtual time, beside their targets."`
	Profile string  `help:"Build a temporary link of this profile, with TCP buffers of 60 MB, and measure it."`
	Probes  int     `default:"100" help:"Number of probes of the idle link. Five are sent per second."`
	Seconds float64 `default:"30" help:"Duration of the TCP flow in seconds. 0: no flow."`
}

const (
	// probeSpacing is no multiple of a frame: probes in step with the frames would all wait equally long.
	probeSpacing = 203700 * time.Microsecond
	probeSize    = 84 // as an IP packet
	// showBuffers is the papers' setting for a GEO link.
	showBuffers = 60_000_000
	// virtualProbes make the nodes' own figures exact to three digits, in about a second.
	virtualProbes = 200_000
)

func (c linkShowCmd) Run(ctx context.Context) (err error) {
	if (c.Name == "") == (c.Profile == "") {
		return errors.New("give the name of a link, or --profile")
	}
	if c.Probes < 1 || c.Seconds != 0 && c.Seconds < 1 {
		return errors.New("at least one probe, and a flow of 0 (none) or at least 1 second, can be measured")
	}
	if c.Name != "" {
		return c.showLink(ctx)
	}
	profile, err := emulate.LoadProfile(c.Profile)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("show-%d", os.Getpid())
	lab, err := netlab.Up(netlab.Options{Name: name, Profile: profile, Seed: profile.Seed, Senders: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	link, err := netlab.Find(name)
	if err != nil {
		return err
	}
	if err := netlab.GrantBuffers(link, showBuffers); err != nil {
		return err
	}
	return c.show(ctx, link, profile)
}

func (c linkShowCmd) showLink(ctx context.Context) error {
	link, err := netlab.Find(c.Name)
	if err != nil {
		if _, notOne := emulate.LoadProfile(c.Name); notOne != nil {
			return err
		}
		return profilesShowCmd{Profile: c.Name, Flows: defaultFlows, Window: defaultWindowMb}.Run()
	}
	if !link.IsRunning {
		return fmt.Errorf("link %s is a leftover: `downlink-agent link down %s` removes it", c.Name, c.Name)
	}
	profile, err := emulate.LoadProfile(link.Profile)
	if err != nil {
		return fmt.Errorf("link %s was built from a file of its own; use --profile with its path: %w", c.Name, err)
	}
	return c.show(ctx, link, profile)
}

// show measures and prints. Columns: what is published, what the nodes do in virtual time, what the kernel sees.
func (c linkShowCmd) show(ctx context.Context, link netlab.Found, profile emulate.Profile) error {
	receiver, sender := link.Hosts[netlab.Receiver], link.Hosts["sender-1"]
	base := time.Duration(profile.Facts.BaseRttMs * float64(time.Millisecond))
	idle, err := measure.Probe(ctx, receiver, sender, c.Probes, probeSpacing, 3*base+time.Second)
	if err != nil {
		return err
	}
	fmt.Printf("%s (%s): %s\nFacts: %s. Nodes: %d probes in virtual time. Kernel: %d UDP probes and one Cubic flow of %g s, now.\n\n",
		profile.Name, profile.Orbit, profile.Description, profile.Facts.Source, virtualProbes, idle.Sent, c.Seconds)
	table := tabwriter.NewWriter(os.Stdout, 0, 4, 3, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "\tfacts\tnodes\tkernel\t")
	nodes := emulate.IdleRtts(profile, profile.Seed, virtualProbes, probeSpacing, probeSize)
	printIdle(table, profile.Facts, describe(nodes, virtualProbes), describe(idle.Rtts, idle.Sent))
	if c.Seconds > 0 {
		loaded, err := measure.Load(ctx, receiver, sender, time.Duration(c.Seconds*float64(time.Second)))
		if err != nil {
			return err
		}
		printLoaded(table, profile.Facts, loaded)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print what was measured: %w", err)
	}
	fmt.Println("\nAll statistics of the profile beside their targets, in virtual time: downlink-agent profiles show",
		cmp.Or(c.Profile, link.Profile))
	return nil
}

// rttSummary describes RTTs in ms.
type rttSummary struct{ median, mean, sd, p005, p995, lostRatio float64 }

func describe(rtts []time.Duration, sent int) (s rttSummary) {
	if len(rtts) == 0 {
		return rttSummary{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), 1}
	}
	ms := make([]float64, len(rtts))
	for i, rtt := range rtts {
		ms[i] = float64(rtt) / float64(time.Millisecond)
		s.mean += ms[i] / float64(len(rtts))
	}
	for _, v := range ms {
		s.sd += (v - s.mean) * (v - s.mean) / float64(len(rtts))
	}
	slices.Sort(ms)
	at := func(ratio float64) float64 { return ms[int(ratio*float64(len(ms)))] }
	s.median, s.sd, s.p005, s.p995 = at(0.5), math.Sqrt(s.sd), at(0.005), at(0.995)
	s.lostRatio = 1 - float64(len(rtts))/float64(sent)
	return s
}

func printIdle(table *tabwriter.Writer, facts emulate.Facts, nodes, kernel rttSummary) {
	row := func(label string, fact, node, measured float64) {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%.2f\t%.2f\t\n", label, stated(fact), node, measured)
	}
	row("idle RTT median, ms", facts.IdleRttMedianMs, nodes.median, kernel.median)
	row("mean, ms", facts.IdleRttMeanMs, nodes.mean, kernel.mean)
	row("standard deviation, ms", facts.IdleRttSdMs, nodes.sd, kernel.sd)
	row("0.5 % below, ms", facts.IdleRttP005Ms, nodes.p005, kernel.p005)
	row("0.5 % above, ms", facts.IdleRttP995Ms, nodes.p995, kernel.p995)
	row("idle loss, %", 100*facts.IdleLossRatio, 100*nodes.lostRatio, 100*kernel.lostRatio)
}

func printLoaded(table *tabwriter.Writer, facts emulate.Facts, loaded measure.Loaded) {
	rtt := describe(loaded.Rtts, len(loaded.Rtts))
	sum := 0.0
	for _, bps := range loaded.RateBps {
		sum += bps
	}
	_, _ = fmt.Fprintf(table, "flow's best second, Mb/s\t%s\t\t%.1f\t\n", stated(facts.NominalRateBps/1e6), slices.Max(loaded.RateBps)/1e6)
	_, _ = fmt.Fprintf(table, "flow's mean, Mb/s\t\t\t%.1f\t\n", sum/float64(len(loaded.RateBps))/1e6)
	_, _ = fmt.Fprintf(table, "RTT under load, median, ms\t\t\t%.1f\t\n", rtt.median)
	_, _ = fmt.Fprintf(table, "highest, ms\t\t\t%.1f\t\n", float64(slices.Max(loaded.Rtts))/float64(time.Millisecond))
	_, _ = fmt.Fprintf(table, "retransmitted segments, %%\t\t\t%.3f\t\n", 100*loaded.RetransmittedRatio)
}

// stated prints a published figure, or nothing where none is.
func stated(fact float64) string {
	if fact == 0 {
		return ""
	}
	return fmt.Sprintf("%.4g", fact)
}
