package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/virtualrun"
)

type profilesRunCmd struct {
	Profile string `arg:"" help:"Name of a link profile or path of a .yaml file."`
}

// Run carries out the orders on standard input over a profile in virtual time, and prints a record of each. It needs no
// privileges and builds nothing.
func (c profilesRunCmd) Run() error {
	profile, err := emulate.LoadProfile(c.Profile)
	if err != nil {
		return err
	}
	return carryAll(profile, os.Stdin, os.Stdout)
}

func carryAll(profile emulate.Profile, from io.Reader, to io.Writer) error {
	orders, records := json.NewDecoder(from), json.NewEncoder(to)
	orders.DisallowUnknownFields()
	for {
		var order virtualrun.Order
		if err := orders.Decode(&order); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read an order, a line of JSON as docs/link-profiles.md has it: %w", err)
		}
		record, err := virtualrun.Carry(profile, order)
		if err != nil {
			return err
		}
		if err := records.Encode(record); err != nil {
			return fmt.Errorf("print a record: %w", err)
		}
	}
}
