package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"

	"downlink/agents/internal/host/diskfile"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/netlab"
)

// linkCmd builds, removes and shows emulated links.
type linkCmd struct {
	Up   linkUpCmd   `cmd:"" help:"Build an emulated link and hold it until stopped."`
	Down linkDownCmd `cmd:"" help:"Remove a link or the leftovers of a killed one."`
	List linkListCmd `cmd:"" help:"List running links and leftovers."`
	Exec linkExecCmd `cmd:"" help:"Run a command on a host of a link."`
	Show linkShowCmd `cmd:"" help:"Measure a link and compare it with its profile."`
}

type linkUpCmd struct {
	Name         string  `required:"" help:"Name of the link: 1-32 characters of a-z, 0-9 and -."`
	Profile      string  `required:"" help:"Name of a link profile (see profiles list) or path of a .yaml file."`
	Senders      int     `default:"1" help:"Number of senders."`
	Control      string  `help:"Destination of the hosts' control traffic: host:port or unix:/path. Default: none." placeholder:"ADDRESS"`
	ReadyFile    string  `help:"Write the link's hosts to this JSON file once the link is up." placeholder:"FILE"`
	Log          string  `help:"Write the state of the link to this CSV file every 10 ms." placeholder:"FILE"`
	LinkControl  string  `help:"Listen at this socket for an agent that restarts the link for each run and records its log." placeholder:"PATH" type:"path"`
	RelayControl string  `help:"Listen at this socket for the agent of the link's INTCP relays." placeholder:"PATH" type:"path"`
	RouterHosts  bool    `help:"Make the routers between hops hosts (router-1, router-2, …, from the senders on), for relays that end TCP. The link then has no relays of its own."`
	Seed         *uint64 `help:"Seed of random events. Default: the profile's seed."`
}

// readyFile tells the program that started the link how to use it.
type readyFile struct {
	Name           string                     `json:"name"`
	Profile        string                     `json:"profile"`
	Pid            int                        `json:"pid"`
	Seed           uint64                     `json:"seed"`
	Orbit          string                     `json:"orbit"`
	NominalRateBps float64                    `json:"nominal_rate_bps"`
	BaseRttMs      float64                    `json:"base_rtt_ms"`
	Server         string                     `json:"server,omitempty"` // the backend, as every host reaches it
	Hosts          map[string]netlab.HostInfo `json:"hosts"`
}

func (c linkUpCmd) Run(ctx context.Context, log *slog.Logger) (err error) {
	profile, err := emulate.LoadProfile(c.Profile)
	if err != nil {
		return err
	}
	seed := profile.Seed
	if c.Seed != nil {
		seed = *c.Seed
	}
	orphaned, err := netlab.ParentGone()
	if err != nil {
		return err
	}
	options := netlab.Options{Name: c.Name, Profile: profile, Seed: seed, Senders: c.Senders, Control: c.Control, LinkControl: c.LinkControl,
		RelayControl: c.RelayControl, HasRouters: c.RouterHosts && len(profile.Hops) > 1}
	if c.Log != "" {
		file, err := os.Create(c.Log)
		if err != nil {
			return fmt.Errorf("create the link's log: %w", err)
		}
		defer func() { _ = file.Close() }()
		options.Log = file
	}
	removed, err := netlab.RemoveLeftover(c.Name)
	if err != nil {
		return fmt.Errorf("remove what a killed link %s left behind: %w", c.Name, err)
	}
	if removed {
		log.Info("removed what a killed link of this name left behind", "link", c.Name)
	}
	lab, err := netlab.Up(options)
	if err != nil {
		return err
	}
	defer func() { err = c.takeDown(lab, log, err) }()
	if err := c.tellReady(lab, profile, seed); err != nil {
		return err
	}
	switch {
	case c.RouterHosts && len(profile.Hops) < 2:
		log.Info("the profile is no list of hops, and so has no router that could be a host", "profile", profile.Name)
	case c.RelayControl != "" && !c.RouterHosts && !lab.HasRelays():
		log.Info("the profile has one hop, and so no place between two hops to relay at: there are no relays", "profile", profile.Name)
	}
	log.Info("link is up", "link", c.Name, "profile", profile.Name, "seed", seed)
	select {
	case <-ctx.Done():
	case <-orphaned:
		log.Info("the process that started the link is gone")
	case <-lab.Ended():
	}
	return nil
}

func (c linkUpCmd) tellReady(lab *netlab.Lab, profile emulate.Profile, seed uint64) error {
	if c.ReadyFile == "" {
		return nil
	}
	text, err := json.MarshalIndent(readyFile{
		Name: c.Name, Profile: profile.Name, Pid: os.Getpid(), Seed: seed,
		Orbit: profile.Orbit, NominalRateBps: profile.Facts.NominalRateBps, BaseRttMs: profile.Facts.BaseRttMs,
		Server: lab.ControlURL(), Hosts: lab.Hosts(),
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("write ready file: %w", err)
	}
	return diskfile.Write(c.ReadyFile, append(text, '\n'), 0o644)
}

// takeDown removes the link and says what it carried.
func (c linkUpCmd) takeDown(lab *netlab.Lab, log *slog.Logger, earlier error) error {
	down, up := lab.Counts()
	if err := lab.Close(); err != nil {
		return fmt.Errorf("take link %s down: %w", c.Name, err)
	}
	log.Info("link is down", "link", c.Name, "down", down.String(), "up", up.String())
	if joined, refused, failed := lab.Proxied(); joined+refused+failed > 0 {
		log.Info("the proxy has ended", "link", c.Name, "joined", joined, "refused", refused, "unreachable", failed)
	}
	return earlier
}

type linkDownCmd struct {
	Name string `arg:"" optional:"" help:"Name of the link."`
	All  bool   `help:"Remove every link of this network namespace."`
}

func (c linkDownCmd) Run() error {
	if c.All == (c.Name != "") {
		return fmt.Errorf("give the name of a link, or --all")
	}
	links, err := netlab.List()
	if c.Name != "" {
		var link netlab.Found
		link, err = netlab.Find(c.Name)
		links = []netlab.Found{link}
	}
	if err != nil {
		return err
	}
	for _, link := range links {
		if err := netlab.Down(link); err != nil {
			return err
		}
		fmt.Println("removed", link.Name)
	}
	return nil
}

type linkListCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

func (c linkListCmd) Run() error {
	links, err := netlab.List()
	if err != nil {
		return err
	}
	if c.JSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(append([]netlab.Found{}, links...))
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "LINK\tPROFILE\tSTATE\tPID\tHOSTS")
	for _, link := range links {
		state := "up"
		if !link.IsRunning {
			state = "leftover"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\n", link.Name, link.Profile, state, link.Pid, strings.Join(link.HostNames(), " "))
	}
	return table.Flush()
}

type linkExecCmd struct {
	Link    string   `arg:"" help:"Name of the link."`
	Host    string   `arg:"" help:"Name of the host: receiver, sender-1, sender-2, …, router-1, …"`
	Command []string `arg:"" help:"Command and its arguments, after --."`
}

func (c linkExecCmd) Run() error {
	command := c.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		return fmt.Errorf("give a command after --")
	}
	link, err := netlab.Find(c.Link)
	if err != nil {
		return err
	}
	return netlab.Exec(link, c.Host, command)
}
