package main

import (
	"errors"
	"fmt"
	"strings"

	"downlink/agents/internal/emulate"
	"downlink/agents/internal/netlab"
)

type profilesCheckCmd struct {
	Profiles []string `arg:"" help:"Profiles by name, .yaml files, or path traces (.dlpath)."`
}

// Run says of each what it holds, and fails when one is wrong or more than this machine can carry.
func (c profilesCheckCmd) Run() error {
	var wrong []error
	for _, name := range c.Profiles {
		profile, err := emulate.LoadProfile(name)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		describeProfile(profile)
		if most := netlab.Capacity(profile); profile.MostHops() > 1 {
			fmt.Printf("  one core of this machine carries %.0f Mb/s over it\n", most/1e6)
			if most < profile.PeakBps() {
				wrong = append(wrong, &netlab.ErrTooMuch{Profile: profile.Name, Hops: profile.MostHops(), PeakBps: profile.PeakBps(), MostBps: most})
			}
		}
	}
	return errors.Join(wrong...)
}

func describeProfile(profile emulate.Profile) {
	fmt.Printf("%s: %d hops at most, %g Mb/s, RTT from %.3f ms\n", profile.Name, profile.MostHops(), profile.PeakBps()/1e6, profile.Facts.BaseRttMs)
	path, isThere := profile.PathSummary()
	if !isThere {
		return
	}
	fmt.Printf("  path %s (%s), SHA-256 %s\n  %v with %d changes, %d to %d hops, RTT from %v, up to %.1f Mb/s\n  %v without a path, %v in gaps\n",
		path.Name, strings.Join(path.Stations, " – "), path.SHA256, path.Lasts, path.Changes, path.FewestHops, path.MostHops, path.LeastRtt, path.PeakBps/1e6,
		path.WithoutPath, path.InGap)
}
