// Command calibrate prints a link profile's statistics beside their targets, compares the beginning of a flow with a
// recorded one, and repeats the fit that chose the profile's parameters. docs/link-profiles.md explains it.
package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"downlink/agents/internal/lab/calibration"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/tcpmodel"
)

type options struct {
	Profile   string  `arg:"" default:"geo-viasat" help:"A link profile, or the path of a .yaml file."`
	Flows     int     `default:"30" help:"Beginnings of flows, with and without HyStart."`
	Downloads int     `default:"10" help:"Downloads and pairs of flows."`
	Window    float64 `default:"30" help:"Bytes that the receiver lets be in flight, in MB."`
	Trace     string  `help:"A recorded flow with HyStart to compare with: CSV with the columns now_us, bytes_acked and rtt_us."`
	Segment   int64   `default:"1308" help:"Bytes in a segment of the recorded flow."`
	Fit       int     `default:"0" help:"Repeat the fit with so many candidates; 0: no fit. TRACE is part of it where it is given."`
	Seed      uint64  `default:"1" help:"Of the candidates."`
}

func main() {
	var o options
	parser := kong.Must(&o, kong.Name("calibrate"))
	_, err := parser.Parse(os.Args[1:])
	parser.FatalIfErrorf(err)
	parser.FatalIfErrorf(o.run(os.Stdout))
}

func (o options) run(out io.Writer) error {
	profile, err := emulate.LoadProfile(o.Profile)
	if err != nil {
		return err
	}
	if err := calibration.Check(profile); err != nil {
		return err
	}
	window := int64(o.Window * 1e6)
	values := calibration.Measure(profile, calibration.Effort{Probes: 200_000, Flows: o.Flows, Downloads: o.Downloads, WindowBytes: window})
	_, _ = fmt.Fprintf(out, "%s: %d beginnings of flows, %d downloads and pairs, windows of %g MB, in virtual time%s\n\n",
		profile.Name, o.Flows, o.Downloads, o.Window, calibration.Remark(profile))
	if err := calibration.Print(out, calibration.Compare(profile, values)); err != nil {
		return err
	}
	var demand *calibration.Demand
	if o.Trace != "" {
		acks, err := o.recorded()
		if err != nil {
			return err
		}
		acks = calibration.FillHoles(acks, o.Segment)
		recorded := calibration.DemandOf(acks)
		demand = &recorded
		if err := o.compare(out, profile, window, acks, recorded); err != nil {
			return err
		}
	}
	if o.Fit > 0 {
		return o.fit(out, profile, demand)
	}
	return nil
}

// recorded reads the flow to compare with.
func (o options) recorded() ([]tcpmodel.Ack, error) {
	file, err := os.Open(o.Trace)
	if err != nil {
		return nil, fmt.Errorf("open the recorded flow: %w", err)
	}
	defer func() { _ = file.Close() }()
	acks, err := readAcks(file)
	if err == nil && len(acks) == 0 {
		err = fmt.Errorf("the recorded flow %s has no acknowledgement", o.Trace)
	}
	return acks, err
}

// compare prints the beginning of a recorded flow beside that of one over the profile.
func (o options) compare(out io.Writer, profile emulate.Profile, window int64, acks []tcpmodel.Ack, demand calibration.Demand) error {
	recorded, emulated := calibration.Describe(acks, o.Segment), calibration.Describe(calibration.Begin(profile, window), 1448)
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "\nBeginning of a flow with HyStart\trecorded\t%s\n", profile.Name)
	row := func(name, format string, a, b any) {
		_, _ = fmt.Fprintf(table, "%s\t"+format+"\t"+format+"\n", name, a, b)
	}
	row("ACK bursts, coherence at 40 ms", "%.2f", recorded.Coherence, emulated.Coherence)
	row("ACKs in a frame, first 1.8 s", "%.2f", recorded.AcksAFrame, emulated.AcksAFrame)
	row("initial window's ACKs, first to last, ms", "%.0f", recorded.InitialSpreadMs, emulated.InitialSpreadMs)
	row("ACKs come together, s", "%.2f", recorded.GrantsBeginS, emulated.GrantsBeginS)
	row("burst of 2 to 4 ACKs, width, 90 %, ms", "%.2f", recorded.BurstWidthMs, emulated.BurstWidthMs)
	row("ACKs in a burst, by second", "%.1f", recorded.AcksASecond, emulated.AcksASecond)
	row("RTTs of ACKs 1-10, ms", "%.0f", part(recorded.RttsMs, 0), part(emulated.RttsMs, 0))
	row("RTTs of ACKs 11-20, ms", "%.0f", part(recorded.RttsMs, 10), part(emulated.RttsMs, 10))
	row("RTTs of ACKs 21-30, ms", "%.0f", part(recorded.RttsMs, 20), part(emulated.RttsMs, 20))
	row("1 MB after the first ACK, s", "%.2f", recorded.ToOneMbS, emulated.ToOneMbS)
	row("5 MB after the first ACK, s", "%.2f", recorded.ToFiveMbS, emulated.ToFiveMbS)
	waited, waits := demand.Waits(profile)
	row("the same ACKs' wait for the return channel, by 0.5 s, ms", "%.0f", waited, waits)
	return table.Flush()
}

// readAcks reads a file, packed with gzip or not.
func readAcks(file *os.File) ([]tcpmodel.Ack, error) {
	if !strings.HasSuffix(file.Name(), ".gz") {
		return calibration.ReadAcks(file)
	}
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("unpack the recorded flow: %w", err)
	}
	return calibration.ReadAcks(unpacked)
}

func part(values []float64, from int) []float64 {
	return values[min(from, len(values)):min(from+10, len(values))]
}

// fit prints the nearest candidates, and between which values the nearest twentieth of them lies.
func (o options) fit(out io.Writer, profile emulate.Profile, demand *calibration.Demand) error {
	if profile.Up.Frames == nil || profile.Down.Rate.Varies == nil {
		return fmt.Errorf("link profile %s has no frames and no varying rate: there is nothing to fit", profile.Name)
	}
	all := calibration.Fit(profile, demand, o.Fit, o.Seed)
	nearest := all[:max(1, len(all)/20)]
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintf(table,
		"\nFit: %d candidates, %d kept\nDISTANCE\tWAITS OFF BY, ms\tGRANT DELAY, frames\tREQUESTS OVER, frames\tHOLD, s\tRATE'S SD\tWINDOW, MB\n",
		len(all), len(nearest))
	for _, c := range all[:min(12, len(all))] {
		_, _ = fmt.Fprintf(table, "%.3f\t%.0f\t%d\t%d\t%.2f\t%.3f\t%.1f\n",
			c.Distance, c.WaitErrorMs, c.GrantDelayFrames, c.RequestFrames, c.HoldS, c.SdRatio, float64(c.WindowBytes)/1e6)
	}
	_, _ = fmt.Fprintf(table, "kept\t%s\t%s\t%s\t%s\t%s\t%s\n",
		span(nearest, func(c calibration.Candidate) float64 { return c.WaitErrorMs }),
		span(nearest, func(c calibration.Candidate) float64 { return float64(c.GrantDelayFrames) }),
		span(nearest, func(c calibration.Candidate) float64 { return float64(c.RequestFrames) }),
		span(nearest, func(c calibration.Candidate) float64 { return c.HoldS }),
		span(nearest, func(c calibration.Candidate) float64 { return c.SdRatio }),
		span(nearest, func(c calibration.Candidate) float64 { return float64(c.WindowBytes) / 1e6 }))
	return table.Flush()
}

// span is median, least and most of what is kept.
func span(kept []calibration.Candidate, of func(calibration.Candidate) float64) string {
	var values []string
	sorted := make([]float64, len(kept))
	for i, c := range kept {
		sorted[i] = of(c)
	}
	slices.Sort(sorted)
	for _, v := range []float64{sorted[len(sorted)/2], sorted[0], sorted[len(sorted)-1]} {
		values = append(values, fmt.Sprintf("%.3g", v))
	}
	return values[0] + " (" + strings.Join(values[1:], " - ") + ")"
}
