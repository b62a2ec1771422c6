package pump

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/server/linkcontrol"
)

const (
	// lateLimit is how much after its moment a packet may leave without counting as late: more than the emulator's own
	// error under load, and less than what a round trip over any profile varies by.
	lateLimit = 2 * time.Millisecond
	// mostLost is how many counts of lost packets a session keeps, by way, cause and port.
	mostLost = 1000
)

// course is a restart of all ways at one moment, and its log. What is here belongs to the pump's thread, but for the
// rows and what ended waits for.
type course struct {
	network emulate.Network
	seed    uint64
	phase   time.Duration    // of the link at the restart
	stretch *emulate.Stretch // of a path trace; nil: there is none
	at      time.Time
	names   []string // the prefix of each way's fields, in the network's order
	began   chan struct{}
	wakeUp  func() // of the pump

	rows    chan []int64
	closing sync.Once
	closed  atomic.Bool
	done    chan struct{} // closed when the pump is through with it; then what follows is fixed

	last                 []emulate.Look // of each way, at the restart
	count, dropped, late uint64
	drained              int
	maxLate              time.Duration
	lost                 map[lostKey]uint64
	mixesHops            bool
}

type lostKey struct {
	way   int
	cause emulate.Cause
	port  int
}

// wayFields are what a row has of each way, in their order, with `down_` or `up_` before them (docs/link-fields.csv).
func wayFields() []string {
	fields := []string{
		"received_bytes", "delivered_bytes", "queued_bytes", "waiting_bytes", "rate_bps", "delay_us", "gap_us", "outage_us", "late_us", "path",
	}
	for _, cause := range emulate.LostCauses() {
		fields = append(fields, columnOf(cause))
	}
	return fields
}

// wayName is the prefix of a way's fields.
func wayName(way emulate.Way) string {
	if way.To == emulate.Receiver {
		return "down"
	}
	return "up"
}

func newCourse(profile emulate.Profile, seed uint64, window *linkcontrol.Window, at time.Time, wakeUp func()) (*course, error) {
	var share *emulate.Window
	if window != nil {
		share = &emulate.Window{Number: window.Number, Of: window.Of, Lasts: time.Duration(window.LastsUs) * time.Microsecond}
	}
	phase, stretch, err := emulate.Begin(profile, seed, share)
	if err != nil {
		return nil, err
	}
	c := &course{
		network: emulate.New(profile, seed), seed: seed, phase: phase, stretch: stretch, at: at, began: make(chan struct{}), wakeUp: wakeUp,
		rows: make(chan []int64, logRoom/2), done: make(chan struct{}), lost: map[lostKey]uint64{},
	}
	for _, way := range c.network {
		c.names = append(c.names, wayName(way))
	}
	return c, nil
}

// Started says how the course began.
func (c *course) Started() linkcontrol.Started {
	fields := []string{"elapsed_us"}
	for _, name := range c.names {
		for _, field := range wayFields() {
			fields = append(fields, name+"_"+field)
		}
	}
	started := linkcontrol.Started{Seed: c.seed, PhaseUs: c.phase.Microseconds(), Fields: fields}
	if c.stretch != nil {
		started.Path = &linkcontrol.Path{Name: c.stretch.Path, SHA256: c.stretch.SHA256, AtUs: c.stretch.At.Microseconds()}
	}
	return started
}

// Rows are closed by the pump.
func (c *course) Rows() <-chan []int64 { return c.rows }

// Stop asks the pump to end the log.
func (c *course) Stop() {
	c.closed.Store(true)
	c.wakeUp()
}

// end is the pump's: no row follows.
func (c *course) end() {
	c.closing.Do(func() {
		close(c.done)
		close(c.rows)
	})
}

// Ended says what there was.
func (c *course) Ended() linkcontrol.Ended {
	<-c.done
	ended := linkcontrol.Ended{
		Rows: c.count, DroppedRows: c.dropped, DrainedPackets: c.drained, LateRows: c.late,
		LateLimitUs: lateLimit.Microseconds(), MaxLateUs: c.maxLate.Microseconds(), Lost: []linkcontrol.Lost{},
		MixesHops: c.mixesHops,
	}
	for key, packets := range c.lost {
		cause := strings.ReplaceAll(key.cause.String(), " ", "_")
		ended.Lost = append(ended.Lost, linkcontrol.Lost{Way: c.names[key.way], Cause: cause, ReceiverPort: key.port, Packets: packets})
	}
	slices.SortFunc(ended.Lost, func(a, b linkcontrol.Lost) int {
		return strings.Compare(lostOrder(a), lostOrder(b))
	})
	return ended
}

func lostOrder(l linkcontrol.Lost) string {
	port := binary.BigEndian.AppendUint32(nil, uint32(l.ReceiverPort))
	return l.Way + " " + string(port) + l.Cause
}

// add never waits: a row for which there is no room is counted as dropped.
func (c *course) add(elapsed time.Duration, rows []logRow) {
	row := make([]int64, 1, 1+len(rows)*len(wayFields()))
	row[0] = elapsed.Microseconds()
	if c.last == nil {
		for i := range rows {
			c.last = append(c.last, rows[i].look)
		}
	}
	isLate := false
	for i := range rows {
		row = append(row, rows[i].values(c.last[i])...)
		isLate = isLate || rows[i].late > lateLimit
		c.maxLate = max(c.maxLate, rows[i].late)
	}
	if isLate {
		c.late++
	}
	select {
	case c.rows <- row:
		c.count++
	default:
		c.dropped++
	}
}

// values are those of wayFields. Gaps and outages count from the restart, at which the look was first.
func (row logRow) values(first emulate.Look) []int64 {
	look := row.look
	values := []int64{
		int64(look.ReceivedBytes), int64(look.DeliveredBytes), int64(look.QueuedBytes()), int64(look.WaitingBytes), int64(look.RateBps),
		look.Delay.Microseconds(), (look.GapTime - first.GapTime).Microseconds(), (look.OutageTime - first.OutageTime).Microseconds(),
		row.late.Microseconds(), int64(look.Path),
	}
	for _, cause := range emulate.LostCauses() {
		values = append(values, int64(look.LostBytes[cause]))
	}
	return values
}

// note counts a packet that was lost.
func (c *course) note(key lostKey) {
	if _, known := c.lost[key]; !known && len(c.lost) >= mostLost {
		key.port = 0
	}
	c.lost[key]++
}
