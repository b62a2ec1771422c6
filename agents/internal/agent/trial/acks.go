package trial

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/server/protocol"
)

// ringRateBps is the fastest flow whose records a ring holds until they are read.
const ringRateBps = 1e9

// extraApart is how far apart the state that comes with no ACK is read. Records come in batches, so that it is up to a
// batch's 20 ms younger than its row.
const extraApart = 5 * time.Millisecond

// watch begins the records of a sender's acknowledgements where the run asks for them. Where this host cannot, the
// flow is polled, and its outcome says why.
func (f *flowRun) watch(conn *net.TCPConn) {
	if f.trial.order.Sampling.Mode != protocol.SamplingPerAck {
		return
	}
	acks, err := f.watchAcks(conn)
	if err != nil {
		f.note = fmt.Sprintf("TCP_INFO was polled, because ACKs cannot be recorded here: %v", err)
		return
	}
	f.acks, f.sampling = acks, protocol.SamplingPerAck
}

func (f *flowRun) watchAcks(conn *net.TCPConn) (*acks.Reader, error) {
	source, err := f.trial.env.Controls.Acks(f.actualCC)
	if err != nil {
		return nil, err
	}
	cookie, err := socket.Cookie(conn)
	if err != nil {
		return nil, err
	}
	return source.Watch(cookie, acks.RingBytes(ringRateBps))
}

func (f *flowRun) unwatch() {
	if f.acks != nil {
		_ = f.acks.Close() // the kernel forgets the rest when the control is released
	}
}

// recordAcks makes the trace of the records until ctx is done.
func (f *flowRun) recordAcks(ctx context.Context, conn *net.TCPConn) (tcpinfo.Stats, error) {
	extra := f.extra(conn)
	recorder := tcpinfo.NewRecorder(slices.Concat(acks.Names, extra.Names()), chunk.MaxSamples, f.keepOrBreakOff)
	rows := acks.Rows{ZeroNs: tcpinfo.ZeroNs(f.trial.zero)}
	var extraAt time.Time
	err := f.acks.Run(ctx, func(ack *acks.Ack) {
		rows.Row(ack, recorder.Row)
		if extra.Read != nil && time.Since(extraAt) >= extraApart {
			extra.Read(recorder.Row[len(acks.Names):])
			extraAt = time.Now()
		}
		recorder.Add()
	})
	stats, kept := recorder.Close()
	return f.tally(stats), cmp.Or(kept, err)
}

// keepOrBreakOff ends the run as soon as a chunk cannot be kept.
func (f *flowRun) keepOrBreakOff(block tcpinfo.Block) error {
	err := f.keep(block)
	if err != nil {
		f.breakOff(asFailure(err))
	}
	return err
}

// extra are the columns of BBR's own state, which the kernel tells to those who ask.
func (f *flowRun) extra(conn *net.TCPConn) tcpinfo.Extra {
	if f.flow.Role == protocol.RoleRelay {
		return f.relayExtra(conn)
	}
	if f.ccVersion == nil {
		return tcpinfo.Extra{}
	}
	return tcpinfo.Extra{Fields: tcpinfo.BBRFields, Read: func(row []int64) { socket.ReadBBR(conn, row) }}
}

// tally adds what the kernel counted, and notes missing records.
func (f *flowRun) tally(stats tcpinfo.Stats) tcpinfo.Stats {
	stats.TCPInfoBytes, _ = tcpinfo.Length()
	counted, err := f.acks.Tally()
	if err != nil {
		f.note = fmt.Sprintf("how many ACKs are missing is not known: %v", err)
	}
	if stats.Dropped = counted.Dropped; counted.Dropped > 0 {
		f.note = fmt.Sprintf("%d of %d ACKs are not on record: this host was too busy", counted.Dropped, counted.Acks)
	}
	return stats
}
