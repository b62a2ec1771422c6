package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/pump"
)

type profilesCheckCmd struct {
	Profiles []string `arg:"" help:"Names of profiles, .yaml files, path traces (.dlpath) or link traces (.csv)."`
}

// Run says of each what it holds, and fails when one is wrong or more than this machine can carry.
func (c profilesCheckCmd) Run() error {
	var wrong []error
	for _, name := range c.Profiles {
		if strings.HasSuffix(name, ".csv") {
			wrong = append(wrong, describeTrace(name))
			continue
		}
		profile, err := emulate.LoadProfile(name)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		describeProfile(profile)
		if most := pump.Capacity(profile); profile.MostHops() > 1 {
			fmt.Printf("  one core of this machine carries %.0f Mb/s over it\n", most/1e6)
			if most < profile.PeakBps() {
				wrong = append(wrong, &pump.ErrTooMuch{Profile: profile.Name, Hops: profile.MostHops(), PeakBps: profile.PeakBps(), MostBps: most})
			}
		}
	}
	return errors.Join(wrong...)
}

func describeProfile(profile emulate.Profile) {
	hops := "one hop"
	if most := profile.MostHops(); most > 1 {
		hops = fmt.Sprintf("%d hops at most", most)
	}
	fmt.Printf("%s: %s, %g Mb/s, RTT from %.3f ms\n", profile.Name, hops, profile.PeakBps()/1e6, profile.Facts.BaseRttMs)
	path, isThere := profile.PathSummary()
	if !isThere {
		return
	}
	fmt.Printf("  path %s (%s), SHA-256 %s\n  %v with %d changes, %d to %d hops, RTT from %v, up to %.1f Mb/s\n  %v without a path, "+
		"%v in gaps\n",
		path.Name, strings.Join(path.Stations, " – "), path.SHA256, path.Lasts, path.Changes, path.FewestHops, path.MostHops, path.LeastRtt,
		path.PeakBps/1e6,
		path.WithoutPath, path.InGap)
	if path.LossRatio != nil {
		fmt.Printf("  each hop loses %g of its packets, whatever the trace says\n", *path.LossRatio)
	}
}

// describeTrace says what a link trace holds. Means are over its time, not over its rows.
func describeTrace(name string) error {
	file, err := os.Open(name) //nolint:gosec // the user's own file
	if err != nil {
		return fmt.Errorf("open a link trace: %w", err)
	}
	defer func() { _ = file.Close() }()
	trace, err := emulate.ReadTrace(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Printf("%s: link trace, %d rows, begins again after %v\n", name, len(trace.At), trace.Repeat)
	if trace.Bps != nil {
		fmt.Printf("  rate %.3g to %.3g Mb/s, mean %.3g\n", slices.Min(trace.Bps)/1e6, slices.Max(trace.Bps)/1e6, overTime(trace, trace.Bps)/1e6)
	}
	if trace.Delay != nil {
		ms := make([]float64, len(trace.Delay))
		for i, delay := range trace.Delay {
			ms[i] = float64(delay) / float64(time.Millisecond)
		}
		fmt.Printf("  delay %g to %g ms, mean %.3g\n", slices.Min(ms), slices.Max(ms), overTime(trace, ms))
	}
	if trace.Loss != nil {
		fmt.Printf("  loss %.3g to %.3g %%, mean %.3g\n", 100*slices.Min(trace.Loss), 100*slices.Max(trace.Loss), 100*overTime(trace, trace.Loss))
	}
	return nil
}

func overTime(trace *emulate.Trace, values []float64) float64 {
	sum := 0.0
	for i, value := range values {
		until := trace.Repeat
		if i+1 < len(trace.At) {
			until = trace.At[i+1]
		}
		sum += value * float64(until-trace.At[i]) / float64(trace.Repeat)
	}
	return sum
}
