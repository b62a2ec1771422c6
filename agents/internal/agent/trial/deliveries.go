package trial

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"time"

	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/flow/delivery"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/intcp"
	"downlink/agents/internal/intcp/intcpsocket"
	"downlink/agents/internal/server/protocol"
)

// departuresEvery is how often stamps of departures are fetched; a socket has room for many hundred.
const departuresEvery = 5 * time.Millisecond

// half is one half of a flow's delivery table while it is made.
type half struct {
	point    protocol.Point
	bytes    int64 // of a block
	recorder *tcpinfo.Recorder
	zero     time.Time
	last     int64 // elapsed_us of the newest row
	// marked is how many blocks were to be stamped, rows how many have a row.
	marked, rows atomic.Uint64
}

// deliveries is what a flow's delivery table is made with at this end; all of it nil where none is kept.
type deliveries struct {
	half         *half
	stamped      *socket.Stamped
	sentTCP      *delivery.SentTCP
	deliveredTCP *delivery.DeliveredTCP
	disordered   int64  // packets of the connection that came out of order
	unwatchUnits func() // ends what INTCP tells
}

// keepsDeliveries: the run asks for it, or messages are offered, whose delays are what matters. Probes are their own.
func (f *flowRun) keepsDeliveries() bool {
	isData := f.flow.Transport.Kind != protocol.TransportProbe && f.flow.Role != protocol.RoleRelay
	return isData && (f.trial.order.Sampling.Deliveries || f.flow.Offer != nil)
}

// beginHalf begins this end's half; nil where none is kept.
func (f *flowRun) beginHalf() *half {
	if !f.keepsDeliveries() {
		return nil
	}
	h := &half{point: protocol.PointSent, bytes: delivery.BlockBytes, zero: f.trial.zero, last: -1}
	names := delivery.SentNames
	if f.flow.Role == protocol.RoleReceiver {
		h.point, names = protocol.PointDelivered, delivery.DeliveredNames
	}
	if f.flow.Offer != nil {
		h.bytes = int64(f.flow.Offer.MessageBytes)
	}
	h.recorder = tcpinfo.NewRecorder(names, chunk.MaxSamples, func(block tcpinfo.Block) error {
		err := f.trial.keep(f.flow.Flow, h.point, block)
		if err != nil {
			f.breakOff(asFailure(err))
		}
		return err
	})
	f.half = h
	return h
}

// row is called by one goroutine at a time.
func (h *half) row(block int64, moments ...int64) {
	h.last = max(h.last+1, h.us(time.Now()))
	row := h.recorder.Row
	row[0], row[1] = h.last, block
	for i, moment := range moments {
		row[2+i] = max(0, moment)
	}
	h.recorder.Add()
	h.rows.Add(1)
}

func (h *half) us(moment time.Time) int64 { return moment.Sub(h.zero).Microseconds() }

// endHalf is called once nothing is added any more.
func (f *flowRun) endHalf() *protocol.Delivery {
	h := f.half
	if h == nil {
		return nil
	}
	if f.unwatchUnits != nil {
		f.unwatchUnits()
	}
	f.half = nil
	stats, _ := h.recorder.Close() // the sink has said what went wrong
	dropped := h.marked.Load()
	dropped -= min(dropped, h.rows.Load())
	return &protocol.Delivery{
		BlockBytes: int(h.bytes), Rows: stats.Samples, Chunks: stats.Blocks, DroppedRows: dropped,
		ZeroUs: tcpinfo.ZeroNs(h.zero) / 1000,
	}
}

// stampDepartures makes the sender's half of a connection. A host that cannot stamp keeps none, and reports that.
func (f *flowRun) stampDepartures(conn *net.TCPConn) error {
	if !f.keepsDeliveries() {
		return nil
	}
	stamped, err := socket.Stamp(conn)
	if err != nil {
		f.note = err.Error()
		return nil //nolint:nilerr // the flow itself needs no stamps
	}
	segment, err := stamped.SegmentBytes()
	if err != nil {
		return err
	}
	h := f.beginHalf()
	f.stamped, f.sentTCP = stamped, delivery.NewSentTCP(h.bytes, int64(segment), h.row)
	return nil
}

// write cuts what is written at the ends of blocks.
func (f *flowRun) write(conn *net.TCPConn, offset int64, part []byte) (int, error) {
	if f.stamped == nil {
		return conn.Write(part)
	}
	blocks := f.sentTCP.Blocks
	n, end := blocks.Room(offset, len(part)), blocks.End(blocks.Next(offset))
	if offset+int64(n) < end {
		return conn.Write(part[:n])
	}
	f.half.marked.Add(1)
	return f.stamped.Write(part[:n])
}

// fetchDepartures fetches stamps until ctx is done.
func (f *flowRun) fetchDepartures(ctx context.Context) {
	ticker := time.NewTicker(departuresEvery)
	defer ticker.Stop()
	for {
		err := f.stamped.Departures(func(number uint32, at time.Time) { f.sentTCP.Stamp(number, f.half.us(at)) })
		if err != nil || ctx.Err() != nil {
			return // without a connection there are no more stamps
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// stampArrivals makes the receiver's half of a connection.
func (f *flowRun) stampArrivals(conn *net.TCPConn) {
	if !f.keepsDeliveries() {
		return
	}
	stamped, err := socket.Stamp(conn)
	if err != nil {
		f.note = err.Error()
		return
	}
	h := f.beginHalf()
	f.stamped, f.deliveredTCP = stamped, delivery.NewDeliveredTCP(h.bytes, h.row)
}

// read reads no further than to the end of a block.
func (f *flowRun) read(conn *net.TCPConn, offset int64, buffer []byte) (int, error) {
	if f.stamped == nil {
		return conn.Read(buffer)
	}
	n, arrival, err := f.stamped.Read(buffer[:f.deliveredTCP.Room(offset, len(buffer))])
	switch {
	case err != nil:
		return n, err
	case n == 0:
		return 0, io.EOF
	}
	if arrival.HasWaited {
		f.disordered = tcpinfo.Disordered(conn)
	}
	read := delivery.Read{End: offset + int64(n), AtUs: f.half.us(arrival.At), HasWaited: arrival.HasWaited, Disordered: f.disordered}
	if read.StampUs = read.AtUs; !arrival.Stamp.IsZero() {
		read.StampUs = f.half.us(arrival.Stamp)
	}
	f.deliveredTCP.Take(read)
	return n, nil
}

// watchUnits makes this end's half of a flow over INTCP.
func (f *flowRun) watchUnits(home *intcpsocket.Home) {
	h := f.beginHalf()
	if h == nil {
		return
	}
	content := f.trial.content(f.flow)
	at := func(now time.Duration) int64 { return h.us(home.At(now)) }
	var watch intcp.Watch
	if f.flow.Role == protocol.RoleSender {
		sent := delivery.NewSentUnits(h.bytes, int64(content.UnitBytes), h.row)
		// It leaves now, whatever moment the node makes good.
		watch.Sent = func(_ time.Duration, unit uint32) { sent.Sent(int64(unit), h.us(time.Now())) }
	} else {
		delivered := delivery.NewDeliveredUnits(h.bytes, int64(content.UnitBytes), h.row)
		watch.Arrived = func(now time.Duration, unit, inOrder uint32) { delivered.Arrived(int64(unit), int64(inOrder), at(now)) }
	}
	f.unwatchUnits = home.Watch(content, watch)
}
