package tcpinfo

// waitingBlocks is how many blocks of a recorder may wait for the sink. Per-ACK records come on their own account: with
// 5,000 in a block a flow of 1 Gb/s (41,000 ACKs a second) fills that many in four seconds, and their 30 columns take 38 MB.
const waitingBlocks = 32

// Recorder collects rows that come one by one, as from per-ACK records, into blocks. The sink runs beside it, one call at
// a time, and must not keep the columns.
type Recorder struct {
	// Row is where a row is written before Add.
	Row    []int64
	outlet *outlet
	block  Block
	stats  Stats
}

// NewRecorder makes blocks of at most blockSamples rows of the named fields, elapsed_us first.
func NewRecorder(names []string, blockSamples int, sink func(Block) error) *Recorder {
	outlet := newOutlet(names, blockSamples, waitingBlocks, sink)
	return &Recorder{Row: make([]int64, len(names)), outlet: outlet, block: outlet.next(0)}
}

// Add takes the row over.
func (r *Recorder) Add() {
	for i, value := range r.Row {
		r.block.Columns[i] = append(r.block.Columns[i], value)
	}
	r.note(r.Row[0])
	if r.block.rows() == r.outlet.samples {
		r.flush()
	}
}

func (r *Recorder) note(elapsedUs int64) {
	if r.stats.Samples == 0 {
		r.stats.FirstUs = elapsedUs
	} else {
		r.stats.LongestGapUs = max(r.stats.LongestGapUs, elapsedUs-r.stats.LastUs)
	}
	r.stats.LastUs = elapsedUs
	r.stats.Samples++
}

func (r *Recorder) flush() {
	r.outlet.put(r.block)
	r.stats.Blocks++
	r.block = r.outlet.next(r.stats.Blocks)
}

// Close gives the sink what is left, waits until it has everything, and tells what there was. The error is the sink's
// first; it was given no block after it.
func (r *Recorder) Close() (Stats, error) {
	if r.block.rows() > 0 {
		r.flush()
	}
	r.stats.AchievedRateHz = r.stats.rateHz()
	return r.stats, r.outlet.close()
}
