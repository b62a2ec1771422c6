package calibration

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"downlink/agents/internal/lab/emulate"
)

// Print writes a line for each statistic: its value, and where it has a target what is published and whether it is met.
func Print(out io.Writer, rows []Row) error {
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "\tUNIT\tVALUE\tPUBLISHED\tFROM - TO\tINSIDE\tUSED AS\tSOURCE")
	for _, row := range rows {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", row.Title, row.Unit, row.value(), row.target())
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print statistics: %w", err)
	}
	return nil
}

// Remark is what a reader of a profile's statistics has to know besides, on a line of its own; mostly nothing.
func Remark(profile emulate.Profile) string {
	if profile.Pep == nil {
		return ""
	}
	return "\nThe profile's proxy takes no part: flows are what they would be without it. docs/examples/pep.yaml compares both with kernels."
}

func (r Row) value() string {
	switch {
	case r.HasValue && math.IsNaN(r.Value):
		return "never"
	case r.HasValue:
		return fmt.Sprintf("%.4g", r.Value)
	case r.measuredBy != "":
		return "see " + r.measuredBy
	default:
		return "not reckoned"
	}
}

func (r Row) target() string {
	if r.Target == nil {
		return "\t\t\t\t"
	}
	inside := ""
	if r.HasValue {
		inside = map[bool]string{true: "yes", false: "NO"}[r.IsInside()]
	}
	t := r.Target
	return fmt.Sprintf("%.4g\t%.4g - %.4g\t%s\t%s\t%s", t.Value, t.Low, t.High, inside, t.Use, t.Source)
}
