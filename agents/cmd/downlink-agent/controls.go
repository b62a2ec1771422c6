package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"downlink/agents/internal/flow/controls"
)

type controlsCmd struct {
	List controlsListCmd `cmd:"" help:"List the agent's congestion controls and whether this host can run them."`
	Load controlsLoadCmd `cmd:"" help:"Load controls for all programs until interrupted (iperf3 -C dl_hybla)."`
}

type controlsListCmd struct {
	JSON bool `help:"Print JSON." name:"json"`
}

// controlRow is one control as the list prints it; `reason` is empty when this host can run it.
type controlRow struct {
	Name    string      `json:"name"`
	Summary string      `json:"summary"`
	Source  string      `json:"source"`
	Able    bool        `json:"able"`
	Reason  string      `json:"reason"`
	Options []optionRow `json:"options"`
}

type optionRow struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Default string `json:"default"`
	Values  string `json:"values"`
}

func (c *controlsListCmd) Run() error {
	rows := controlRows()
	if c.JSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(rows)
	}
	return printControls(os.Stdout, rows, controls.CanRecordAcks())
}

func controlRows() []controlRow {
	var rows []controlRow
	for _, control := range controls.Catalog() {
		row := controlRow{Name: control.Name, Summary: control.Summary, Source: control.Source, Able: true, Options: []optionRow{}}
		if err := control.Ability(); err != nil {
			row.Able, row.Reason = false, err.Error()
		}
		for i := range control.Options {
			option := &control.Options[i]
			row.Options = append(row.Options, optionRow{option.Name, option.Summary, option.Default, option.Values()})
		}
		rows = append(rows, row)
	}
	return rows
}

// printControls ends with whether every ACK can be on record under the kernel's controls too; ours record their own.
func printControls(to io.Writer, rows []controlRow, withoutAcks error) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		verdict := "can run here"
		if !row.Able {
			verdict = "cannot run here: " + row.Reason
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\n\t%s\n", row.Name, row.Summary, verdict)
		for _, option := range row.Options {
			_, _ = fmt.Fprintf(table, "\t  --option %s=%s\t%s (%s)\n", option.Name, option.Default, option.Summary, option.Values)
		}
	}
	if withoutAcks != nil {
		_, _ = fmt.Fprintf(table, "\nThe kernel's own controls are polled here, their ACKs cannot be recorded: %v\n", withoutAcks)
	} else {
		_, _ = fmt.Fprint(table, "\nEvery ACK can be recorded here, under the kernel's own controls too.\n")
	}
	return table.Flush()
}

type controlsLoadCmd struct {
	Names   []string `arg:"" help:"Names of controls, as listed."`
	Options []string `help:"Option name=value of the control, if only one is loaded. May be repeated." name:"option" sep:"none"`
}

func (c *controlsLoadCmd) Run(ctx context.Context) (err error) {
	options, err := c.options()
	if err != nil {
		return err
	}
	for _, name := range c.Names {
		loaded, loadErr := controls.Load(name, options)
		if loadErr != nil {
			return loadErr
		}
		defer func() { err = errors.Join(err, loaded.Close()) }()
	}
	fmt.Printf("%s: registered until interrupted\n", strings.Join(c.Names, ", "))
	<-ctx.Done()
	return nil
}

func (c *controlsLoadCmd) options() (map[string]any, error) {
	options := map[string]any{}
	for _, text := range c.Options {
		name, value, found := strings.Cut(text, "=")
		if !found {
			return nil, fmt.Errorf("%w: %q is not of the form name=value", controls.ErrBadOption, text)
		}
		options[name] = value
	}
	if len(options) > 0 && len(c.Names) > 1 {
		return nil, fmt.Errorf("%w: options belong to one control, load them one by one", controls.ErrBadOption)
	}
	return options, nil
}
