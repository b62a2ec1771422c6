package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/config"
	"downlink/agents/internal/controls"
	"downlink/agents/internal/settings"
)

// place finds the configuration.
type place struct {
	StateDir string `help:"State folder, with the configuration in it." default:"/var/lib/downlink-agent"`
	Config   string `help:"Configuration file, when it is not agent.yaml in the state folder." type:"path"`
}

func (p place) load() (config.Config, error) {
	c, err := p.loadAlone()
	if err != nil {
		return c, err
	}
	return c, c.Heed(config.PolicyFile)
}

// loadAlone leaves out the policy of the host's owner: an error in it must not keep the host from being restored.
func (p place) loadAlone() (config.Config, error) {
	if p.Config != "" {
		return config.Load(p.Config)
	}
	return config.Load(filepath.Join(p.StateDir, config.FileName))
}

type runCmd struct{ place }

// spareProcessors lets a sampling thread that wakes run at once: with only as many processors as the host has, the
// runtime makes it wait for a sending or receiving loop to pause.
const spareProcessors = 4

func (r runCmd) Run(ctx context.Context, log *slog.Logger) error {
	runtime.GOMAXPROCS(runtime.NumCPU() + spareProcessors)
	c, err := r.load()
	if err != nil {
		return err
	}
	identity, err := config.LoadIdentity(c.StateDir)
	if err != nil {
		return err
	}
	claim, err := agent.Claim(c.StateDir)
	if err != nil {
		return err
	}
	defer func() { _ = claim.Close() }()
	a, err := agent.New(c, agent.Parts{
		Version: version, Log: log, Identity: identity, Host: settings.LinuxHost{}, Controls: &controls.Library{},
	})
	if err != nil {
		return err
	}
	log.Info("agent runs", "name", c.Name, "server", c.Server, "version", version)
	return a.Run(ctx)
}

type restoreCmd struct{ place }

func (r restoreCmd) Run() error {
	c, err := r.loadAlone()
	if err != nil {
		return err
	}
	keeper, _, err := agent.OpenKeeper(c, settings.LinuxHost{})
	if err != nil {
		return err
	}
	claim, err := agent.Claim(c.StateDir)
	if errors.Is(err, agent.ErrRuns) {
		return fmt.Errorf("%w and restores the host itself at the end of each run; stop it first", err)
	}
	if err == nil { // whatever else is wrong with the folder, the host comes first
		defer func() { _ = claim.Close() }()
	}
	wasPending := keeper.Pending()
	outcome, err := keeper.Restore()
	for _, difference := range outcome.Differences {
		fmt.Println(difference)
	}
	if err != nil {
		return err
	}
	if wasPending {
		fmt.Println("This host's settings are as they were before the run.")
	} else {
		fmt.Println("Nothing to restore: no run has left settings changed.")
	}
	return nil
}
