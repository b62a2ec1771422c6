package main

import (
	"fmt"
	"time"
	"unicode/utf8"

	"downlink/agents/internal/agent/pause"
	"downlink/agents/internal/server/protocol"
)

// pauseCmd is for the host's owner: no server can lift it.
type pauseCmd struct {
	place
	For *time.Duration `arg:"" optional:"" help:"Duration, such as 3h or 90m. Default: until downlink-agent resume."`
	Why string         `help:"Reason, shown in the dashboard."`
	Now bool           `help:"Abort the current run. Default: it ends as planned."`
}

// A longer pause than longestPause is a slip; who means it pauses without an end.
const (
	shortestPause = time.Second
	longestPause  = 10 * 365 * 24 * time.Hour
	mostWhy       = 200
)

func (p pauseCmd) Run() error {
	c, err := p.load()
	if err != nil {
		return err
	}
	if length := utf8.RuneCountInString(p.Why); length > mostWhy {
		return fmt.Errorf("--why has %d characters; write at most %d", length, mostWhy)
	}
	said := pause.Pause{Why: protocol.Sentence(p.Why), EndsRun: p.Now}
	if p.For != nil {
		if *p.For < shortestPause || *p.For > longestPause {
			return fmt.Errorf("a pause of %s is not taken: write 1s to %.0fh, such as 3h or 90m, "+
				"or no time at all for a pause until `downlink-agent resume`", *p.For, longestPause.Hours())
		}
		said.Until = time.Now().Add(*p.For).Truncate(time.Second)
	}
	if err := pause.Set(c.StateDir, said); err != nil {
		return err
	}
	fmt.Printf("%s is %s.\n", c.Name, said.Sentence())
	return nil
}

type resumeCmd struct{ place }

func (r resumeCmd) Run() error {
	c, err := r.load()
	if err != nil {
		return err
	}
	was, err := pause.Clear(c.StateDir)
	if err != nil {
		return err
	}
	if !was {
		fmt.Printf("%s was not paused.\n", c.Name)
		return nil
	}
	fmt.Printf("%s takes runs again.\n", c.Name)
	return nil
}
