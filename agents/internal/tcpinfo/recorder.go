package tcpinfo

// Recorder collects rows that come one by one, as from per-ACK records, into blocks. The sink must not keep the columns.
type Recorder struct {
	// Row is where a row is written before Add.
	Row   []int64
	sink  func(Block) error
	block Block
	most  int
	stats Stats
}

// NewRecorder makes blocks of at most blockSamples rows of the named fields, elapsed_us first.
func NewRecorder(names []string, blockSamples int, sink func(Block) error) *Recorder {
	r := &Recorder{Row: make([]int64, len(names)), sink: sink, most: blockSamples}
	r.block = Block{Names: names, Columns: make([][]int64, len(names))}
	for i := range r.block.Columns {
		r.block.Columns[i] = make([]int64, 0, blockSamples)
	}
	return r
}

// Add takes the row over; an error is the sink's.
func (r *Recorder) Add() error {
	for i, value := range r.Row {
		r.block.Columns[i] = append(r.block.Columns[i], value)
	}
	r.note(r.Row[0])
	if len(r.block.Columns[0]) < r.most {
		return nil
	}
	return r.flush()
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

func (r *Recorder) flush() error {
	if len(r.block.Columns[0]) == 0 {
		return nil
	}
	err := r.sink(r.block)
	for i := range r.block.Columns {
		r.block.Columns[i] = r.block.Columns[i][:0]
	}
	r.block.Sequence++
	return err
}

// Close gives the sink what is left and tells what there was.
func (r *Recorder) Close() (Stats, error) {
	err := r.flush()
	r.stats.Blocks = r.block.Sequence
	r.stats.AchievedRateHz = r.stats.rateHz()
	return r.stats, err
}
