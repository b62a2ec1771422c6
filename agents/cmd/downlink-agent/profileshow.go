package main

import (
	"fmt"
	"os"

	"downlink/agents/internal/lab/calibration"
	"downlink/agents/internal/lab/emulate"
)

type profilesShowCmd struct {
	Profile   string  `arg:"" help:"Name of a link profile or path of a .yaml file."`
	Flows     int     `default:"10" help:"Number of flow starts with and without HyStart, each at a different moment and seed. 0: none."`
	Downloads int     `default:"0" help:"Number of downloads of three minutes with and without HyStart, and of flow pairs. Each takes about five seconds. 0: none."`
	Window    float64 `default:"30" help:"Receive window in MB."`
}

// What `link show` takes for a profile: the defaults of `profiles show`.
const (
	defaultFlows    = 10
	defaultWindowMb = 30
)

// Run prints a profile's statistics beside its targets. It needs no privileges and builds nothing.
func (c profilesShowCmd) Run() error {
	if c.Flows < 0 || c.Flows > 1000 || c.Downloads < 0 || c.Downloads > 1000 || c.Window < 0.1 || c.Window > 1000 {
		return fmt.Errorf("from 0 to 1000 flows and downloads with windows of 0.1 to 1000 MB can be shown, not %d and %d with %g",
			c.Flows, c.Downloads, c.Window)
	}
	profile, err := emulate.LoadProfile(c.Profile)
	if err != nil {
		return err
	}
	if err := calibration.Check(profile); err != nil {
		return err
	}
	values := calibration.Measure(profile, calibration.Effort{
		Probes: virtualProbes, Flows: c.Flows, Downloads: c.Downloads, WindowBytes: int64(c.Window * 1e6),
	})
	fmt.Printf("%s (%s): %s\n%d probes, %d beginnings of flows and %d downloads in virtual time, windows of %g MB.%s\n\n",
		profile.Name, profile.Orbit, profile.Description, virtualProbes, c.Flows, c.Downloads, c.Window, calibration.Remark(profile))
	return calibration.Print(os.Stdout, calibration.Compare(profile, values))
}
