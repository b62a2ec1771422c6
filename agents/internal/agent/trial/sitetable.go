package trial

import (
	"context"
	"time"

	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/server/linkcontrol"
	"downlink/agents/internal/server/protocol"
)

const (
	// takeRowsEvery is how often rows are taken that have come from the link.
	takeRowsEvery = 50 * time.Millisecond
	// lastRowsLimit is how long after a flow's end the rows may take that say what its sites did until then: longer than two
	// moments of rows are apart after a day.
	lastRowsLimit = 10 * time.Second
	// firstRowsLimit is the same where none have come yet: links from before tell none.
	firstRowsLimit = 500 * time.Millisecond
	// siteRowsHz is how many rows a second there are for fifteen sites.
	siteRowsHz = 150
)

// rowsFrom is the run's zero where its table of sites is wanted; else the zero time.
func (t *Trial) rowsFrom() time.Time {
	if !t.order.Sampling.Sites {
		return time.Time{}
	}
	return t.zero
}

// recordSites gives what keeps the table of a flow's sites until the first moment of rows after the flow's end.
func (f *flowRun) recordSites(s *sites) func(ctx context.Context) {
	return func(ctx context.Context) {
		table := &siteTable{unitBytes: int64(f.trial.content(f.flow).UnitBytes), last: -1}
		table.recorder = tcpinfo.NewRecorder(tcpinfo.SiteNames, chunk.MaxSamples, func(block tcpinfo.Block) error {
			err := f.trial.keep(f.flow.Flow, protocol.PointSites, block)
			if err != nil {
				f.breakOff(asFailure(err))
			}
			return err
		})
		ticker := time.NewTicker(takeRowsEvery)
		defer ticker.Stop()
		ended, done := time.Time{}, ctx.Done()
		for {
			rows, untilUs, dropped := s.rows[f.flow.Flow].Take()
			table.add(rows, dropped)
			if !ended.IsZero() && (isTold(untilUs, ended.Sub(f.trial.zero), time.Since(ended)) || s.client.Err() != nil) {
				break
			}
			select {
			case <-ticker.C:
			case <-done:
				ended, done = time.Now(), nil
			}
		}
		f.sites = table.close()
	}
}

// isTold: rows reach up to the flow's end, or have been waited for long enough. untilUs is -1 before the first have come.
func isTold(untilUs int64, end, waited time.Duration) bool {
	if untilUs < 0 {
		return waited > firstRowsLimit
	}
	return untilUs >= end.Microseconds() || waited > lastRowsLimit
}

// siteTable is the table of a flow's sites while it is made.
type siteTable struct {
	recorder  *tcpinfo.Recorder
	unitBytes int64
	last      int64 // elapsed_us of the newest row
	dropped   uint64
}

// add takes in rows as they came from the link.
func (t *siteTable) add(rows []linkcontrol.SiteRow, dropped uint64) {
	t.dropped += dropped
	for i := range rows {
		row := &rows[i]
		t.last = max(t.last+1, row.ElapsedUs)
		copy(t.recorder.Row, []int64{
			t.last, int64(row.Place), int64(row.Node), int64(row.ArrivedBytes), int64(row.SentBytes), int64(row.RepairedBytes),
			int64(row.LostPackets), int64(row.HitUnits) * t.unitBytes, int64(row.AskedBps), int64(row.GrantedBps),
			int64(row.BacklogBytes), row.RTTUs, row.QueueUs,
		})
		t.recorder.Add()
	}
}

// close says what there is; nil where the link tells no rows.
func (t *siteTable) close() *protocol.SiteTable {
	stats, _ := t.recorder.Close() // the sink has said what went wrong
	if stats.Samples == 0 {
		return nil
	}
	return &protocol.SiteTable{Rows: stats.Samples, Chunks: stats.Blocks, DroppedRows: t.dropped}
}

// beside samples in two ways at once, until both have ended.
func beside(one, other func(ctx context.Context)) func(ctx context.Context) {
	return func(ctx context.Context) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			other(ctx)
		}()
		one(ctx)
		<-done
	}
}
