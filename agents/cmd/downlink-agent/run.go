package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/flow/controls"
	"downlink/agents/internal/host/settings"
)

// place finds the configuration.
type place struct {
	StateDir string `help:"State folder, which contains the configuration." default:"/var/lib/downlink-agent"`
	Config   string `help:"Configuration file. Default: agent.yaml in the state folder." type:"path"`
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
	return config.Load(p.file())
}

func (p place) file() string {
	if p.Config != "" {
		return p.Config
	}
	return filepath.Join(p.StateDir, config.FileName)
}

// loadForRestoring needs the folders of journal and lock alone: a typing error elsewhere, or no configuration at all, must
// not keep the host from being restored.
func (p place) loadForRestoring() config.Config {
	c, err := p.loadAlone()
	if err != nil {
		return config.Folders(p.file(), p.StateDir)
	}
	return c
}

// restoreFirst puts the host back before the agent ends for what it cannot start with. The caller has claimed the folder.
func (p place) restoreFirst(log *slog.Logger, why error) error {
	keeper, _, err := agent.OpenKeeper(p.loadForRestoring(), settings.LinuxHost{})
	if err != nil {
		return errors.Join(why, err)
	}
	if keeper.Pending() {
		log.Warn("this agent cannot start; the settings that a run has left are put back first")
	}
	if _, err := keeper.Restore(); err != nil {
		return errors.Join(why, fmt.Errorf("restore this host: %w", err))
	}
	return why
}

type runCmd struct{ place }

// spareProcessors lets a sampling thread that wakes run at once: with only as many processors as the host has, the
// runtime makes it wait for a sending or receiving loop to pause.
const spareProcessors = 4

func (r runCmd) Run(ctx context.Context, log *slog.Logger) error {
	runtime.GOMAXPROCS(runtime.NumCPU() + spareProcessors)
	c, fault := r.load()
	stateDir := c.StateDir
	if fault != nil {
		stateDir = r.loadForRestoring().StateDir
	}
	claim, err := agent.Claim(stateDir)
	if err != nil {
		return cmp.Or(fault, err)
	}
	defer func() { _ = claim.Close() }()
	identity, err := config.LoadIdentity(stateDir)
	if fault = cmp.Or(fault, err); fault != nil {
		return r.restoreFirst(log, fault)
	}
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
	c := r.loadForRestoring()
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
