// Command causes prints variants of links, windows and senders in virtual time beside published values, one question after the
// other: why a value is not ours. docs/reproduction/causes-modelled.md is its answer.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"downlink/agents/study/causes"
)

type options struct {
	Section string `help:"Only this one: buffers, defaults, objects, downloads, steady, cubic-pairs, hystart-pairs, hybla-pairs, leo, ground-search or ground-pairs."`
	Runs    int    `default:"0" help:"Of each variant; 0: as many as the page has."`
	Variant string `help:"Only variants whose name has this."`
	Into    string `help:"File to write instead of printing."`
}

const introduction = `# Causes, modelled

Each variant changes one thing, over courses 0, 1, 2, … of the profile's seed. Written by ` + "`make causes`" + `; do not edit.
A variant that meets one value often misses others.

Senders are [the model's](../link-profiles.md#statistics-and-targets), without pacing. Archives: [causes.md](causes.md).
`

func main() {
	var o options
	parser := kong.Must(&o, kong.Name("causes"))
	_, err := parser.Parse(os.Args[1:])
	parser.FatalIfErrorf(err)
	parser.FatalIfErrorf(o.run())
}

func (o options) run() error {
	if o.Into == "" {
		return o.write(os.Stdout)
	}
	var page bytes.Buffer
	if err := o.write(&page); err != nil {
		return err
	}
	if err := os.WriteFile(o.Into, page.Bytes(), 0o644); err != nil { //nolint:gosec // a page for everybody
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// write prints the page, or one section of it.
func (o options) write(out io.Writer) error {
	if o.Section == "" {
		if _, err := io.WriteString(out, introduction); err != nil {
			return fmt.Errorf("print the page: %w", err)
		}
	}
	isOne := false
	for _, section := range causes.Sections() {
		if o.Section == "" || o.Section == section.Name {
			isOne = true
			if err := section.Only(o.Variant).Write(out, o.Runs); err != nil {
				return err
			}
		}
	}
	if !isOne {
		return fmt.Errorf("there is no section %q", o.Section)
	}
	return nil
}
