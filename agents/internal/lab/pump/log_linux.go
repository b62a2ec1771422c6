package pump

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"downlink/agents/internal/lab/emulate"
)

const (
	// logEvery is how far the rows of a link's log are apart.
	logEvery = 10 * time.Millisecond
	// logRoom is how many rows wait for a slow writer: half a minute of two ways.
	logRoom = 6000
)

// linkLog writes what a link is like at each moment, on a thread of its own: the pump must not wait for a disk.
type linkLog struct {
	rows    chan []logRow
	dropped atomic.Uint64 // rows for which there was no room
	ended   chan struct{} // closed when the last row was written, with err set
	err     error
}

type logRow struct {
	from, to string
	at, late time.Duration
	look     emulate.Look
}

func startLog(w io.Writer) *linkLog {
	l := &linkLog{rows: make(chan []logRow, logRoom/2), ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		l.err = l.write(bufio.NewWriter(w))
	}()
	return l
}

// add never waits.
func (l *linkLog) add(rows []logRow) {
	select {
	case l.rows <- slices.Clone(rows):
	default:
		l.dropped.Add(uint64(len(rows)))
	}
}

// write ends with the last row. After an error it goes on taking rows, so that none waits in vain.
func (l *linkLog) write(w *bufio.Writer) error {
	causes := emulate.LostCauses()
	_, err := fmt.Fprintf(w,
		"at_ms,from,to,received_bytes,delivered_bytes,queued_bytes,waiting_bytes,rate_bps,delay_ms,is_gap,is_outage,late_us,path,%s\n",
		lostColumns(causes))
	for rows := range l.rows {
		for _, row := range rows {
			if err == nil {
				_, err = fmt.Fprintln(w, row.text(causes))
			}
		}
	}
	if err != nil {
		return fmt.Errorf("write the link's log: %w", err)
	}
	return w.Flush()
}

func lostColumns(causes []emulate.Cause) string {
	names := make([]string, len(causes))
	for i, cause := range causes {
		names[i] = columnOf(cause)
	}
	return strings.Join(names, ",")
}

func columnOf(cause emulate.Cause) string {
	return strings.ReplaceAll(cause.String(), " ", "_") + "_bytes"
}

func (row logRow) text(causes []emulate.Cause) string {
	look := row.look
	var text strings.Builder
	fmt.Fprintf(&text, "%d,%s,%s,%d,%d,%d,%d,%.0f,%.3f,%d,%d,%d,%d", row.at.Milliseconds(), row.from, row.to,
		look.ReceivedBytes, look.DeliveredBytes, look.QueuedBytes(), look.WaitingBytes, look.RateBps,
		float64(look.Delay)/float64(time.Millisecond), flag(look.IsGap), flag(look.IsOutage), row.late.Microseconds(), look.Path)
	for _, cause := range causes {
		fmt.Fprintf(&text, ",%d", look.LostBytes[cause])
	}
	return text.String()
}

func flag(is bool) int {
	if is {
		return 1
	}
	return 0
}

// close waits until all is written.
func (l *linkLog) close() error {
	close(l.rows)
	<-l.ended
	if dropped := l.dropped.Load(); dropped > 0 && l.err == nil {
		return fmt.Errorf("the link's log lacks %d rows: its disk was too slow", dropped)
	}
	return l.err
}
