package linkcontrol

import (
	"slices"
	"time"

	"downlink/agents/internal/intcp"
)

// RowsEvery is how far moments of rows are apart.
const RowsEvery = 100 * time.Millisecond

// wholeMoments are those from the run's zero that all have rows. In each doubling after them half as many have some, so that
// the table of a long run is not much longer than that of a short one; what was counted meanwhile is in the next row.
const wholeMoments = 1 << 14

// NextMoment is the first moment of rows from a number on; moment 0 is the run's zero.
func NextMoment(number int64) int64 {
	stride := int64(1)
	for number >= wholeMoments*stride {
		stride *= 2
	}
	return (number + stride - 1) / stride * stride // where the next doubling begins is a moment of both
}

// SiteRows are what the sites of a link have done of a content, at one moment of the run.
type SiteRows struct {
	// Content is its place among the contents of the plan.
	Content int `json:"content"`
	// UntilUs is the moment, counted from the run's zero.
	UntilUs int64     `json:"until_us"`
	Rows    []SiteRow `json:"rows"`
	// Missed counts rows of moments before at which there was no room for any. What they would have said is in these.
	Missed uint64 `json:"missed,omitempty"`
	// IsPart: more of this moment follows.
	IsPart bool `json:"is_part,omitempty"`
}

// SiteRow is what one site did since its last row, and how it stands; pathrelay.Row explains it.
type SiteRow struct {
	ElapsedUs     int64   `json:"elapsed_us"`
	Place         int     `json:"place"`
	Node          int     `json:"node"`
	ArrivedBytes  uint64  `json:"arrived_bytes"`
	SentBytes     uint64  `json:"sent_bytes"`
	RepairedBytes uint64  `json:"repaired_bytes"`
	LostPackets   uint64  `json:"lost_packets"`
	HitUnits      uint64  `json:"hit_units"`
	AskedBps      float64 `json:"asked_bps"`
	GrantedBps    float64 `json:"granted_bps"`
	BacklogBytes  int     `json:"backlog_bytes"`
	RTTUs         int64   `json:"rtt_us"`
	QueueUs       int64   `json:"queue_us"`
}

// mostWaiting bounds the rows that wait for one who takes them.
const mostWaiting = 1 << 16

// RowReader takes the rows of a content. Each one gets all of them: flows may share a content.
type RowReader struct {
	client  *RelayClient
	batches [][]SiteRow // that came and were not taken yet
	waiting int         // rows in them
	untilUs int64
	dropped uint64
}

// ReadRows gives one who takes the rows of a content that come from now on.
func (r *RelayClient) ReadRows(name intcp.Name) *RowReader {
	r.mu.Lock()
	defer r.mu.Unlock()
	reader := &RowReader{client: r, untilUs: -1}
	r.readers[name] = append(r.readers[name], reader)
	return reader
}

// Take hands over the rows that have come, and says up to which moment of the run they reach, and how many there were no room
// for since the last call. Before the first moment has come, untilUs is -1.
func (w *RowReader) Take() (rows []SiteRow, untilUs int64, dropped uint64) {
	w.client.mu.Lock()
	defer w.client.mu.Unlock()
	rows, dropped = slices.Concat(w.batches...), w.dropped
	w.batches, w.waiting, w.dropped = nil, 0, 0
	return rows, w.untilUs, dropped
}

// keep takes in rows that came. Readers of one content have the same rows in memory.
func (w *RowReader) keep(came *SiteRows) {
	fit := min(len(came.Rows), mostWaiting-w.waiting)
	if fit > 0 {
		w.batches = append(w.batches, came.Rows[:fit])
	}
	w.waiting += fit
	w.dropped += uint64(len(came.Rows)-fit) + came.Missed
	if !came.IsPart {
		w.untilUs = came.UntilUs
	}
}

// keepRows takes in what came of a content.
func (r *RelayClient) keepRows(came *SiteRows) {
	if came.Content < 0 || came.Content >= len(r.contents) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, reader := range r.readers[r.contents[came.Content]] {
		reader.keep(came)
	}
}
