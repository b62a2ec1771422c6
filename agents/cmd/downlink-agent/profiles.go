package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"downlink/agents/internal/lab/emulate"
)

type profilesCmd struct {
	List    profilesListCmd    `cmd:"" help:"List the built-in link profiles."`
	Check   profilesCheckCmd   `cmd:"" help:"Check profiles and traces, and print their contents."`
	Show    profilesShowCmd    `cmd:"" help:"Simulate the start of TCP flows over a profile in virtual time."`
	Run     profilesRunCmd     `cmd:"" help:"Simulate flows over a profile in virtual time. Reads orders as JSON lines from standard input. Writes a record of each order to standard output."`
	Convert profilesConvertCmd `cmd:"" help:"Convert Mahimahi or LeoReplayer files to a link trace on standard output."`
}

type profilesListCmd struct{}

func (profilesListCmd) Run() error {
	table := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "PROFILE\tORBIT\tRATE\tRTT\t")
	for _, name := range emulate.ProfileNames() {
		profile, err := emulate.LoadProfile(name)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%g Mb/s\t%g ms\t%s\n", name, profile.Orbit, profile.Facts.NominalRateBps/1e6, profile.Facts.BaseRttMs,
			profile.Description)
	}
	return table.Flush()
}

type profilesConvertCmd struct {
	Opportunities string `type:"existingfile" help:"File with one line per packet of 1,500 bytes: the millisecond in which it may leave."`
	Delays        string `type:"existingfile" help:"File with one line per 10 ms: the one-way delay in milliseconds."`
}

func (c profilesConvertCmd) Run() error {
	if c.Opportunities == "" && c.Delays == "" {
		return errors.New("give --opportunities, --delays, or both")
	}
	opportunities, closeFirst, err := open(c.Opportunities)
	if err != nil {
		return err
	}
	defer closeFirst()
	delays, closeSecond, err := open(c.Delays)
	if err != nil {
		return err
	}
	defer closeSecond()
	trace, err := emulate.Convert(opportunities, delays)
	if err != nil {
		return err
	}
	if _, err := trace.WriteTo(os.Stdout); err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	return nil
}

// open opens a file to read, none for an empty path.
func open(path string) (file io.Reader, closeIt func(), err error) {
	if path == "" {
		return nil, func() {}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("open a recorded course: %w", err)
	}
	return f, func() { _ = f.Close() }, nil
}
