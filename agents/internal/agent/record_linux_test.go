package agent_test

import (
	"encoding/binary"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/delivery"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/netlab"
	"downlink/agents/internal/lab/pump"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/hosttest"
)

// piece is a range of a flow's bytes in one packet.
type piece struct{ begin, end int64 }

// piecesOfTCP reads packets of a connection that its sender accepts: its SYN says where the flow's bytes begin.
func piecesOfTCP() func(packet []byte) (piece, bool) {
	const synFlag, flagsAt, protocolTCP = 2, 13, 6
	var first uint32
	return func(packet []byte) (piece, bool) {
		if packet[9] != protocolTCP {
			return piece{}, false
		}
		segment := packet[4*int(packet[0]&0xf):]
		sequence := binary.BigEndian.Uint32(segment[4:])
		if segment[flagsAt]&synFlag != 0 {
			first = sequence + 1
			return piece{}, false
		}
		begin, bytes := int64(sequence-first), len(segment)-4*int(segment[12]>>4)
		return piece{begin, begin + int64(bytes)}, bytes > 0
	}
}

// piecesOfINTCP reads DATA (docs/intcp/README.md).
func piecesOfINTCP() func(packet []byte) (piece, bool) {
	const protocolUDP, headerBytes, kindData, dataBytes = 17, 8, 5, 52
	return func(packet []byte) (piece, bool) {
		if packet[9] != protocolUDP {
			return piece{}, false
		}
		d := packet[4*int(packet[0]&0xf)+headerBytes:]
		if len(d) <= dataBytes || d[1] != kindData {
			return piece{}, false
		}
		begin := int64(binary.BigEndian.Uint64(d[16:]))
		return piece{begin, begin + int64(binary.BigEndian.Uint16(d[24:]))}, true
	}
}

// record is what the emulator knows of a flow's packets towards its receiver, by where they begin: when each came to the line and
// left it for the first time, on the clock that agents count from.
type record struct {
	mu         sync.Mutex
	began      time.Time
	beganUs    int64
	ends       map[int64]int64
	came, left map[int64]int64
}

func recordOf(t *testing.T, lab *netlab.Lab, read func(packet []byte) (piece, bool)) *record {
	t.Helper()
	r := &record{began: time.Now(), ends: map[int64]int64{}, came: map[int64]int64{}, left: map[int64]int64{}}
	r.beganUs = tcpinfo.ZeroNs(r.began) / 1000
	require.NoError(t, lab.Note(func(p pump.Passage) {
		if p.To != emulate.Receiver || p.Packet[0]>>4 != 4 {
			return
		}
		found, isData := read(p.Packet)
		if !isData {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		moments := r.came
		if p.HasLeft {
			moments = r.left
		}
		if _, isAgain := moments[found.begin]; !isAgain {
			r.ends[found.begin], moments[found.begin] = found.end, r.beganUs+p.At.Sub(r.began).Microseconds()
		}
	}))
	return r
}

// moments are those of a block.
type moments struct{ sent, arrived, inOrder int64 }

// blocks are what a delivery table should say: when the last byte came to the line, when all bytes had left it, and when all
// before them had, too.
func (r *record) blocks() map[int64]moments {
	r.mu.Lock()
	defer r.mu.Unlock()
	var begins []int64
	for begin := range r.left {
		begins = append(begins, begin)
	}
	slices.Sort(begins)
	found, inOrder, reached := map[int64]moments{}, int64(0), int64(0)
	for _, begin := range begins {
		end := r.ends[begin]
		if begin > reached {
			break // a hole that was filled by packets which are cut otherwise
		}
		reached, inOrder = max(reached, end), max(inOrder, r.left[begin])
		for block := begin / delivery.BlockBytes; block*delivery.BlockBytes < end; block++ {
			m := found[block]
			m.arrived, m.inOrder = max(m.arrived, r.left[begin]), inOrder
			if end >= (block+1)*delivery.BlockBytes {
				m.sent = r.came[begin]
			}
			found[block] = m
		}
	}
	return found
}

// TestDeliveryTablesAreTheEmulatorsOwnRecord: on one host a table's moments are those at which the emulated line had the packets.
func TestDeliveryTablesAreTheEmulatorsOwnRecord(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	const size = 3_000_000
	lane := emulate.Direction{Rate: emulate.Rate{ConstantBps: 20e6}, Queue: emulate.Queue{LimitBytes: 1_500_000},
		Delay: emulate.Delay{BaseMs: 10}}
	profile := emulate.Profile{Name: "still", Orbit: "terrestrial",
		Seed: 1, Down: lane, Up: lane, Facts: emulate.Facts{NominalRateBps: 20e6, BaseRttMs: 20}}
	w, lab := onLink(t, profile, map[string]string{"sender": "sender-1", "receiver": netlab.Receiver}, "sender", "receiver")
	for _, e := range []struct {
		transport protocol.Transport
		pieces    func(packet []byte) (piece, bool)
	}{{protocol.Transport{Kind: protocol.TransportTCP, CC: "cubic"}, piecesOfTCP()}, {wayTransports[0], piecesOfINTCP()}} {
		w.backend.change(func() { clear(w.backend.chunks) })
		run := w.run(e.transport, protocol.Stop{Bytes: new(int64(size))})
		for _, order := range run.prepare {
			order.Sampling.Deliveries = true
		}
		r := recordOf(t, lab, e.pieces)
		w.begin(run)
		for _, name := range w.names {
			w.backend.awaitEvent(t, name, "uploaded", patience)
		}
		require.NoError(t, lab.Note(nil))
		t.Log(e.transport.Kind)
		w.requireAsRecorded(t, r.blocks(), size/delivery.BlockBytes)
	}
}

// requireAsRecorded compares each row of both halves with what the emulator saw. The machine may be busy, so that the median counts.
func (w *way) requireAsRecorded(t *testing.T, recorded map[int64]moments, blocks int) {
	t.Helper()
	const exactUs, mostUs = 100, 100_000 // a buffer of TCP has one stamp, so that few of its blocks have a first departure
	compare := func(end, point, column string, least int, moment func(moments) int64) {
		outcome := outcomeOf(t, w.backend.said(end, "finished"), 1)
		require.Equal(t, "stop_rule", outcome["ended"], outcome["detail"])
		zeroUs := int64(outcome["delivery"].(map[string]any)["zero_us"].(float64))
		values := w.backend.trace(t, 1, point, column)
		var apart []int64
		for i, block := range w.backend.trace(t, 1, point, "block") {
			require.Contains(t, recorded, block)
			by := zeroUs + values[i] - moment(recorded[block])
			apart = append(apart, max(by, -by))
		}
		require.GreaterOrEqual(t, len(apart), least, column)
		slices.Sort(apart)
		t.Logf("%s: %d blocks, apart by %d µs in the median, %d at 95 %%, %d at most",
			column, len(apart), apart[len(apart)/2], apart[len(apart)*95/100], apart[len(apart)-1])
		require.Less(t, apart[len(apart)/2], int64(exactUs), column)
		require.Less(t, apart[len(apart)-1], int64(mostUs), column)
	}
	compare("sender", "sent", "sent_at_us", blocks/10, func(m moments) int64 { return m.sent })
	compare("receiver", "delivered", "arrived_at_us", blocks, func(m moments) int64 { return m.arrived })
	compare("receiver", "delivered", "delivered_at_us", blocks, func(m moments) int64 { return m.inOrder })
}
