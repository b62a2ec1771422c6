package main

import (
	"fmt"
	"path/filepath"

	"downlink/agents/internal/server/spool"
)

// spoolCmd is for the host's owner: what no server asks for stays here until it is dropped by hand.
type spoolCmd struct {
	List   spoolListCmd   `cmd:"" default:"withargs" help:"List the runs whose samples this host stores."`
	Return spoolReturnCmd `cmd:"" help:"Offer samples that were set aside to the server again after the agent's next start."`
	Drop   spoolDropCmd   `cmd:"" help:"Delete all samples of a run. This cannot be undone."`
}

func (p place) spool() (*spool.Spool, error) {
	c, err := p.load()
	if err != nil {
		return nil, err
	}
	return spool.Look(filepath.Join(c.StateDir, "spool"))
}

type spoolListCmd struct{ place }

func (l spoolListCmd) Run() error {
	s, err := l.spool()
	if err != nil {
		return err
	}
	printHeld("waits for the server to ask for it", s.Held())
	printHeld("set aside", s.Aside())
	replaced, err := s.Replaced()
	if err != nil {
		return err
	}
	for _, folder := range replaced {
		fmt.Printf("%s: measured before the server was restored, and measured again since; delete the folder by hand\n", folder)
	}
	if len(s.Held())+len(s.Aside())+len(replaced) == 0 {
		fmt.Println("Nothing is held here.")
	}
	return nil
}

func printHeld(state string, list []spool.Held) {
	for _, held := range list {
		fmt.Printf("%s attempt %d: %d chunks, %.1f MB, %s\n", held.RunID, held.Attempt, held.Chunks, float64(held.Bytes)/1e6, state)
	}
}

// heldRun names one attempt.
type heldRun struct {
	place
	RunID   string `arg:"" name:"run" help:"Run ID, as listed."`
	Attempt int    `help:"Attempt number, as listed." default:"1"`
}

// find refuses a name that is not in the list.
func (h heldRun) find() (*spool.Spool, error) {
	s, err := h.spool()
	if err != nil {
		return nil, err
	}
	for _, held := range append(s.Held(), s.Aside()...) {
		if held.RunID == h.RunID && held.Attempt == h.Attempt {
			return s, nil
		}
	}
	return nil, fmt.Errorf("nothing of attempt %d of run %s is held here; `downlink-agent spool` lists what is", h.Attempt, h.RunID)
}

type spoolReturnCmd struct{ heldRun }

func (r spoolReturnCmd) Run() error {
	s, err := r.find()
	if err != nil {
		return err
	}
	if err := s.Return(r.RunID, r.Attempt); err != nil {
		return err
	}
	fmt.Println("The samples are offered again from the agent's next start on.")
	return nil
}

type spoolDropCmd struct{ heldRun }

func (d spoolDropCmd) Run() error {
	s, err := d.find()
	if err != nil {
		return err
	}
	return s.Discard(d.RunID, d.Attempt)
}
