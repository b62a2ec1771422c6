package emulate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// opportunityBytes is what one line of a file of packet opportunities lets through.
	opportunityBytes = 1500
	// convertedRow is how long a row of a converted trace holds: files of delays have a line for each 10 ms.
	convertedRow = 10 * time.Millisecond
)

// Convert makes a link trace of the files of Mahimahi and LeoReplayer; either may be nil. opportunities has a line for
// each packet of 1,500 bytes that can leave: the millisecond at whose end it does. It repeats after its last one, so that a
// file of one line 1 is a packet a millisecond for ever. delays has a line for each 10 ms: the one-way delay in
// milliseconds. With both the trace is as long as the delays: opportunities that end before are repeated, others are cut.
func Convert(opportunities, delays io.Reader) (*Trace, error) {
	trace := &Trace{}
	count := opportunityCount{keepsMarks: delays != nil}
	if opportunities != nil {
		if err := count.read(opportunities); err != nil {
			return nil, fmt.Errorf("packet opportunities: %w", err)
		}
	}
	var err error
	if delays != nil {
		if trace.Delay, err = readDelays(delays); err != nil {
			return nil, fmt.Errorf("delays: %w", err)
		}
	}
	switch {
	case opportunities == nil:
		trace.grid(len(trace.Delay))
	case delays == nil:
		count.fill(trace)
	default:
		trace.grid(len(trace.Delay))
		count.repeatOver(len(trace.At))
		trace.Bps = count.rates(len(trace.At))
	}
	return trace, trace.end()
}

// grid gives the trace so many rows of 10 ms.
func (trace *Trace) grid(rows int) {
	for row := range rows {
		trace.At = append(trace.At, time.Duration(row)*convertedRow)
	}
}

const rowMs = int(convertedRow / time.Millisecond)

// opportunityCount is how many packets can leave in each 10 ms, up to the last millisecond, and the moments of its end.
type opportunityCount struct {
	rows   []int
	lastMs int
	tail   []int // those of the last tailMs

	keepsMarks bool
	marks      []mark
}

// mark is how many packets can leave at a millisecond.
type mark struct{ ms, packets uint32 }

// tailMs is the least length that a trace is brought to, and as much of its end as may fall into rows of another length.
const tailMs = 2 * rowMs

func (c *opportunityCount) read(r io.Reader) error {
	err := eachNumber(r, func(ms int) error {
		if ms < c.lastMs {
			return fmt.Errorf("%d comes after %d; the milliseconds may not fall", ms, c.lastMs)
		}
		return c.add(ms)
	})
	if err == nil && c.lastMs == 0 {
		return errors.New("its last millisecond is 0, after which it would repeat; a constant rate is rate.constant_bps of a profile")
	}
	return err
}

// add counts a packet that leaves within the millisecond before its mark: the one at the last mark belongs to this turn.
func (c *opportunityCount) add(ms int) error {
	row := max(0, ms-1) / rowMs
	if row >= mostTraceRows {
		return fmt.Errorf("%d ms is beyond a day", ms)
	}
	for len(c.rows) <= row {
		c.rows = append(c.rows, 0)
	}
	c.rows[row]++
	if c.keepsMarks {
		if len(c.marks) == 0 || ms > c.lastMs {
			c.marks = append(c.marks, mark{ms: uint32(ms)})
		}
		c.marks[len(c.marks)-1].packets++
	}
	c.lastMs = ms
	c.tail = append(c.tail, ms)
	if ms-c.tail[0] > 2*tailMs {
		c.tail = slices.DeleteFunc(c.tail, func(each int) bool { return each <= ms-tailMs })
	}
	return nil
}

// fill gives the trace the course of the counts, and exactly their period: where that is no multiple of 10 ms, the last two
// rows are of one length between 5 and 10 ms.
func (c *opportunityCount) fill(trace *Trace) {
	if c.lastMs < tailMs {
		c.repeat((tailMs + c.lastMs - 1) / c.lastMs)
	}
	rest := c.lastMs % rowMs
	rows := c.lastMs / rowMs
	if rest > 0 {
		rows--
	}
	trace.grid(rows)
	trace.Bps = c.rates(rows)
	if rest == 0 {
		return
	}
	length := time.Duration(rowMs+rest) * time.Millisecond / 2
	begin := time.Duration(rows) * convertedRow
	for _, at := range []time.Duration{begin, begin + length} {
		packets := 0
		for _, ms := range c.tail {
			if moment := time.Duration(ms) * time.Millisecond; moment > at && moment <= at+length {
				packets++
			}
		}
		trace.At = append(trace.At, at)
		trace.Bps = append(trace.Bps, packetRate(packets, length))
	}
}

// repeat writes a short trace out so many times.
func (c *opportunityCount) repeat(times int) {
	once, period := *c, c.lastMs
	*c = opportunityCount{}
	for turn := range times {
		for _, ms := range once.tail {
			_ = c.add(turn*period + ms) // far below a day
		}
	}
}

// repeatOver counts the packets of so many rows and repeats the marks until the rows end. One pass over the marks has at most
// one more mark than milliseconds, so the work is two steps for each millisecond, however many packets there are.
func (c *opportunityCount) repeatOver(rows int) {
	if c.lastMs >= rows*rowMs {
		return
	}
	c.rows = make([]int, rows)
	for begin := 0; begin < rows*rowMs; begin += c.lastMs {
		for _, each := range c.marks {
			row := max(0, begin+int(each.ms)-1) / rowMs
			if row >= rows {
				break
			}
			c.rows[row] += int(each.packets)
		}
	}
}

func (c *opportunityCount) rates(rows int) []float64 {
	bps := make([]float64, rows)
	for row := range bps {
		bps[row] = packetRate(c.rows[row], convertedRow)
	}
	return bps
}

func packetRate(packets int, length time.Duration) float64 {
	return float64(packets) * opportunityBytes * 8 / length.Seconds()
}

func readDelays(r io.Reader) (delays []time.Duration, err error) {
	err = eachNumber(r, func(ms int) error {
		if ms > mostDelayMs || len(delays) == mostTraceRows {
			return fmt.Errorf("a delay is at most %d ms, and a file has at most a day of them", int(mostDelayMs))
		}
		delays = append(delays, time.Duration(ms)*time.Millisecond)
		return nil
	})
	return delays, err
}

// eachNumber reads a file with one whole number a line, none below 0.
func eachNumber(r io.Reader, take func(int) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, mostTraceLine), mostTraceLine)
	number := 0
	for lines.Scan() {
		number++
		value, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
		if err != nil || value < 0 {
			return fmt.Errorf("line %d: expected a whole number of milliseconds, not %q", number, lines.Text())
		}
		if err := take(value); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read a line: %w", err)
	}
	if number == 0 {
		return errors.New("the file is empty")
	}
	return nil
}
