package emulate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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
// each packet of 1,500 bytes that can leave: the millisecond in which it does. delays has a line for each 10 ms: the one-way
// delay in milliseconds. Of two files of different lengths the longer one is cut.
func Convert(opportunities, delays io.Reader) (*Trace, error) {
	trace := &Trace{}
	var err error
	if opportunities != nil {
		if trace.Bps, err = countOpportunities(opportunities); err != nil {
			return nil, fmt.Errorf("packet opportunities: %w", err)
		}
	}
	if delays != nil {
		if trace.Delay, err = readDelays(delays); err != nil {
			return nil, fmt.Errorf("delays: %w", err)
		}
	}
	rows := max(len(trace.Bps), len(trace.Delay))
	if opportunities != nil && delays != nil {
		rows = min(len(trace.Bps), len(trace.Delay))
		trace.Bps, trace.Delay = trace.Bps[:rows], trace.Delay[:rows]
	}
	for row := range rows {
		trace.At = append(trace.At, time.Duration(row)*convertedRow)
	}
	return trace, trace.end()
}

func countOpportunities(r io.Reader) (bps []float64, err error) {
	last := 0
	err = eachNumber(r, func(ms int) error {
		if ms < last {
			return fmt.Errorf("%d comes after %d; the milliseconds may not fall", ms, last)
		}
		last = ms
		row := ms / int(convertedRow/time.Millisecond)
		if row >= mostTraceRows {
			return fmt.Errorf("%d ms is beyond a day", ms)
		}
		for len(bps) <= row {
			bps = append(bps, 0)
		}
		bps[row] += opportunityBytes * 8 / convertedRow.Seconds()
		return nil
	})
	return bps, err
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
