package emulate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// traceHeading is the first line of a link trace. docs/link-profiles.md describes the format.
const traceHeading = "# dl-link-trace/1"

// The columns of a link trace.
const (
	columnAt    = "at_ms"
	columnRate  = "rate_bps"
	columnDelay = "delay_ms"
	columnLoss  = "loss_ratio"
)

const (
	// mostTraceRows bounds a trace's memory: a day of rows of 10 ms.
	mostTraceRows = 24 * 3600 * 100
	mostTraceLine = 1 << 10
)

// Trace is the recorded course of one way. A quantity that was not recorded has no values; the others have one for each
// row, which holds until the next one. The course begins again after Repeat.
type Trace struct {
	At     []time.Duration // the first is 0
	Repeat time.Duration
	Bps    []float64
	Delay  []time.Duration
	Loss   []float64
}

// row is the one that holds at t, and until is when it ends.
func (trace *Trace) row(t time.Duration) (row int, until time.Duration) {
	begin := t - t%trace.Repeat
	next := sort.Search(len(trace.At), func(i int) bool { return trace.At[i] > t-begin })
	if next == len(trace.At) {
		return next - 1, begin + trace.Repeat
	}
	return next - 1, begin + trace.At[next]
}

// recordedRate is the rate of a trace.
type recordedRate struct{ trace *Trace }

func (r recordedRate) at(t time.Duration) (float64, time.Duration) {
	row, until := r.trace.row(t)
	return r.trace.Bps[row], until
}

// recordedLoss loses each packet with the probability of its moment.
type recordedLoss struct {
	trace *Trace
	draws *course
}

func (n *recordedLoss) Process(now time.Duration, in *Packet) (*Packet, time.Duration) {
	if in != nil {
		if row, _ := n.trace.row(now); n.draws.draw(now).Float64() < n.trace.Loss[row] {
			in.Lost = RandomLoss
		}
	}
	return in, Never
}

func (n *recordedLoss) Held() int { return 0 }

func (n *recordedLoss) Least() time.Duration { return 0 }

// recordedDelay is the delay of a trace, as a variation of a way's base.
func recordedDelay(trace *Trace) *variation {
	return &variation{least: slices.Min(trace.Delay), recorded: trace}
}

// ReadTrace reads a link trace. Every error names its line.
func ReadTrace(r io.Reader) (*Trace, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, mostTraceLine), mostTraceLine)
	if !lines.Scan() || strings.TrimSpace(lines.Text()) != traceHeading {
		return nil, fmt.Errorf("a link trace begins with the line %q", traceHeading)
	}
	trace := &Trace{}
	var names []string
	for number := 2; lines.Scan(); number++ {
		text := strings.TrimSpace(lines.Text())
		var err error
		switch {
		case text == "" || text[0] == '#':
		case names == nil:
			names, err = traceColumns(text)
		default:
			err = trace.add(names, strings.Split(text, ","))
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read a link trace: %w", err)
	}
	return trace, trace.end()
}

func traceColumns(text string) ([]string, error) {
	names := strings.Split(text, ",")
	for i, name := range names {
		if !slices.Contains([]string{columnAt, columnRate, columnDelay, columnLoss}, name) || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("columns are %s and one or more of %s, %s and %s, each once, not %q",
				columnAt, columnRate, columnDelay, columnLoss, text)
		}
	}
	if names[0] != columnAt || len(names) < 2 {
		return nil, fmt.Errorf("the first column is %s, and there is at least one more", columnAt)
	}
	return names, nil
}

func (trace *Trace) add(names, cells []string) error {
	if len(cells) != len(names) {
		return fmt.Errorf("%d values for %d columns", len(cells), len(names))
	}
	if len(trace.At) == mostTraceRows {
		return fmt.Errorf("a trace has at most %d rows", mostTraceRows)
	}
	for i, name := range names {
		value, err := strconv.ParseFloat(strings.TrimSpace(cells[i]), 64)
		if err != nil {
			return fmt.Errorf("%s is a number, not %q", name, cells[i])
		}
		if err := trace.put(name, value); err != nil {
			return err
		}
	}
	return nil
}

func (trace *Trace) put(name string, value float64) error {
	var (
		isGood bool
		must   string
	)
	switch name {
	case columnAt:
		last := len(trace.At) - 1
		must = "0 in the first row, then rising in steps of at least 1, up to 1e9"
		isGood = (last < 0 && value == 0) || (last >= 0 && milliseconds(value) >= trace.At[last]+time.Millisecond && value <= longestS*1e3)
		trace.At = append(trace.At, milliseconds(value))
	case columnRate:
		must = "0, or from 1000 to 1e11"
		isGood = value == 0 || isRate(value)
		trace.Bps = append(trace.Bps, value)
	case columnDelay:
		must = "from 0 to 60000"
		isGood = value >= 0 && value <= mostDelayMs
		trace.Delay = append(trace.Delay, milliseconds(value))
	default:
		must = "from 0 to 1"
		isGood = value >= 0 && value <= 1
		trace.Loss = append(trace.Loss, value)
	}
	if !isGood {
		return fmt.Errorf("%s must be %s, not %v", name, must, value)
	}
	return nil
}

// end sets when the course begins again: the last row holds as long as the one before it.
func (trace *Trace) end() error {
	n := len(trace.At)
	switch {
	case n < 2:
		return errors.New("a trace has at least two rows")
	case trace.Bps != nil && slices.Max(trace.Bps) == 0:
		return errors.New("a link whose rate is always 0 carries nothing")
	}
	trace.Repeat = trace.At[n-1] + trace.At[n-1] - trace.At[n-2]
	return nil
}

// WriteTo writes the trace in the format that ReadTrace reads.
func (trace *Trace) WriteTo(w io.Writer) (int64, error) {
	var text bytes.Buffer
	names, columns := trace.columns()
	fmt.Fprintf(&text, "%s\n%s\n", traceHeading, strings.Join(append([]string{columnAt}, names...), ","))
	for row, at := range trace.At {
		text.WriteString(number(inMilliseconds(at)))
		for _, value := range columns {
			text.WriteString("," + number(value(row)))
		}
		text.WriteByte('\n')
	}
	return text.WriteTo(w)
}

// columns are those that there are besides the time, each with its value by row.
func (trace *Trace) columns() (names []string, values []func(row int) float64) {
	if trace.Bps != nil {
		names, values = append(names, columnRate), append(values, func(row int) float64 { return trace.Bps[row] })
	}
	if trace.Delay != nil {
		names, values = append(names, columnDelay), append(values, func(row int) float64 { return inMilliseconds(trace.Delay[row]) })
	}
	if trace.Loss != nil {
		names, values = append(names, columnLoss), append(values, func(row int) float64 { return trace.Loss[row] })
	}
	return names, values
}

func number(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

func inMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
