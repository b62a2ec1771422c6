package tcpinfo

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// Block is a run of samples in columns, one column per name.
type Block struct {
	Names    []string
	Columns  [][]int64
	Sequence int
}

// rows is how many samples the block holds: every column has as many.
func (b Block) rows() int { return len(b.Columns[0]) }

// Stats tells how well a sampler kept its interval.
type Stats struct {
	TCPInfoBytes int
	Samples      int
	Blocks       int
	// Dropped are samples that were due and are not on record.
	Dropped        uint64
	FirstUs        int64
	LastUs         int64
	LongestGapUs   int64
	AchievedRateHz float64
	LatenessMeanUs float64
	LatenessMaxUs  float64
}

// rateHz is 0 where no time has passed.
func (s *Stats) rateHz() float64 {
	if s.LastUs <= s.FirstUs {
		return 0
	}
	return float64(s.Samples-1) / (float64(s.LastUs-s.FirstUs) / 1e6)
}

// Sampler reads one connection's state at an interval and gives blocks of samples to a sink.
type Sampler struct {
	Conn     syscall.Conn
	End      Ends
	Interval time.Duration
	// Zero is the run's zero; it must carry a monotonic reading.
	Zero time.Time
	// AppBytes is what the application has written or read so far.
	AppBytes *atomic.Int64
	// Extra are columns beside those of TCP_INFO.
	Extra Extra
	// BlockSamples is how many samples make a block.
	BlockSamples int
	// Sink stores a block. It runs beside the sampling, one call at a time, and must not keep the columns.
	Sink func(Block) error
}

// Run samples until ctx is done, takes one last sample and returns once the sink has every block.
//
// Liveness: it returns within one interval of the cancellation plus the time that the sink needs.
// A connection that can no longer be read ends the sampling without an error: its last state is already recorded.
func (s *Sampler) Run(ctx context.Context) (Stats, error) {
	raw, err := s.Conn.SyscallConn()
	if err != nil {
		return Stats{}, fmt.Errorf("sample connection: %w", err)
	}
	reader := newReader(raw)
	if err := reader.read(); err != nil {
		return Stats{}, fmt.Errorf("read TCP_INFO: %w", err)
	}
	layout := NewLayout(s.End, reader.length)
	outlet := newOutlet(append(layout.Names(), s.Extra.Names()...), s.BlockSamples, spareBlocks, s.Sink)
	recording := &recording{sampler: s, reader: reader, layout: layout, outlet: outlet}
	recording.run(ctx)
	stats := recording.stats()
	stats.TCPInfoBytes = reader.length
	return stats, outlet.close()
}

// recording is the state of one Run; only the sampling thread touches it.
type recording struct {
	sampler *Sampler
	reader  *reader
	layout  Layout
	outlet  *outlet

	row      []int64
	block    Block
	zeroNs   int64
	samples  int
	blocks   int
	firstUs  int64
	lastUs   int64
	gapUs    int64
	lateSum  int64
	lateMax  int64
	lateSeen int
}

func (r *recording) run(ctx context.Context) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer preferThread()()
	r.row = make([]int64, len(r.layout.fields)+len(r.sampler.Extra.Fields))
	r.block = r.outlet.next(0)
	r.zeroNs = ZeroNs(r.sampler.Zero)
	interval := r.sampler.Interval.Nanoseconds()
	due := monotonic()
	for ctx.Err() == nil && r.sample() {
		r.noteLateness(r.lateNs(due))
		due = nextDue(due, monotonic(), interval)
		sleepUntil(due)
	}
	if ctx.Err() != nil {
		r.sample()
	}
	r.flush()
}

// ZeroNs is a run's zero on CLOCK_MONOTONIC.
//
// A process that is held up between both readings gets too little, so that the most of several is right.
func ZeroNs(zero time.Time) int64 {
	most := int64(math.MinInt64)
	for range zeroTries {
		most = max(most, monotonic()-time.Since(zero).Nanoseconds())
	}
	return most
}

const zeroTries = 8

// nextDue keeps to the grid of the first sample; ticks that passed meanwhile are left out, not made up for.
func nextDue(due, now, interval int64) int64 {
	return due + max(0, (now-due)/interval)*interval + interval
}

// sample records the connection's state now; false means that it cannot be read any more.
func (r *recording) sample() bool {
	if err := r.reader.read(); err != nil {
		return false
	}
	// The read takes the socket's lock and may wait for it: the moment after it is the moment of the state.
	elapsedUs := r.elapsedUs(monotonic())
	if r.samples > 0 && elapsedUs <= r.lastUs {
		return true
	}
	r.layout.Decode(r.reader.buffer[:], elapsedUs, r.sampler.AppBytes.Load(), r.row)
	if read := r.sampler.Extra.Read; read != nil {
		read(r.row[len(r.layout.fields):])
	}
	for i, value := range r.row {
		r.block.Columns[i] = append(r.block.Columns[i], value)
	}
	r.note(elapsedUs)
	if r.block.rows() == r.sampler.BlockSamples {
		r.flush()
	}
	return true
}

func (r *recording) note(elapsedUs int64) {
	if r.samples == 0 {
		r.firstUs = elapsedUs
	} else {
		r.gapUs = max(r.gapUs, elapsedUs-r.lastUs)
	}
	r.lastUs = elapsedUs
	r.samples++
}

// elapsedUs is a moment of CLOCK_MONOTONIC on the run's clock.
func (r *recording) elapsedUs(nowNs int64) int64 { return (nowNs - r.zeroNs) / 1000 }

// lateNs is how much later than due the latest sample was taken.
func (r *recording) lateNs(due int64) int64 { return r.zeroNs + r.lastUs*1000 - due }

func (r *recording) noteLateness(lateNs int64) {
	r.lateSum += lateNs
	r.lateMax = max(r.lateMax, lateNs)
	r.lateSeen++
}

func (r *recording) flush() {
	if r.block.rows() == 0 {
		return
	}
	r.outlet.put(r.block)
	r.blocks++
	r.block = r.outlet.next(r.blocks)
}

func (r *recording) stats() Stats {
	stats := Stats{
		Samples: r.samples, Blocks: r.blocks, FirstUs: r.firstUs, LastUs: r.lastUs,
		LongestGapUs: r.gapUs, LatenessMaxUs: float64(r.lateMax) / 1000,
	}
	stats.AchievedRateHz = stats.rateHz()
	if r.lateSeen > 0 {
		stats.LatenessMeanUs = float64(r.lateSum) / float64(r.lateSeen) / 1000
	}
	return stats
}
