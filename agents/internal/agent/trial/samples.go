package trial

import (
	"context"
	"errors"
	"net"
	"sync"

	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
)

// The samples of a TCP flow, and the spool that takes them.

// sample records the trace; a chunk that cannot be kept ends the run, because a trace with a hole is of no use.
func (f *flowRun) sample(ctx context.Context, conn *net.TCPConn) {
	var err error
	var fetching sync.WaitGroup
	defer fetching.Wait()
	if f.sentTCP != nil {
		fetching.Go(func() { f.fetchDepartures(ctx) })
	}
	if f.acks != nil {
		f.stats, err = f.recordAcks(ctx, conn)
	} else {
		f.stats, err = f.poll(ctx, conn)
	}
	// A flow that ended before its first sample reports it itself.
	if err != nil && !errors.Is(err, net.ErrClosed) {
		f.breakOff(asFailure(err))
	}
}

func (f *flowRun) poll(ctx context.Context, conn *net.TCPConn) (tcpinfo.Stats, error) {
	sampler := tcpinfo.Sampler{
		Conn: conn, End: f.end(), Interval: interval(f.trial.order, f.flow.Role), Zero: f.trial.zero,
		AppBytes: f.appBytes, Extra: f.extra(conn), BlockSamples: chunk.MaxSamples, Sink: f.keep,
	}
	return sampler.Run(ctx)
}

func (f *flowRun) keep(block tcpinfo.Block) error {
	return f.trial.keep(f.flow.Flow, f.flow.Point(), block)
}

// keep puts a block of samples into the spool as a chunk.
func (t *Trial) keep(flow int, point protocol.Point, block tcpinfo.Block) error {
	ref := t.order.RunRef
	packed, err := chunk.Encode(chunk.Header{
		Format: chunk.Format, RunID: ref.RunID, Attempt: ref.Attempt, Flow: flow, Point: string(point),
		Sequence: block.Sequence, Samples: len(block.Columns[0]), Fields: block.Names,
	}, block.Columns)
	if err != nil {
		return err
	}
	key := spool.Key{RunID: ref.RunID, Attempt: ref.Attempt, Flow: flow, Point: string(point), Sequence: block.Sequence}
	if err := t.env.Spool.Put(key, packed); err != nil {
		return fail(protocol.ReasonDiskFull, "%v", err)
	}
	return nil
}
