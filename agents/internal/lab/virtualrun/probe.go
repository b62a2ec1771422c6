package virtualrun

import (
	"slices"
	"time"

	"downlink/agents/internal/lab/emulate"
)

// probeBytes is a probe as an IPv4 packet (docs/agent-protocol.md, section 3).
const probeBytes = 92

// probe sends one echo after the other; several may be on their way.
func probe(network emulate.Network, start time.Duration, order Order) Record {
	spacing := time.Duration(order.EveryMs * float64(time.Millisecond))
	sent := make([]time.Duration, int(order.duration()/spacing))
	for i := range sent {
		sent[i] = start + time.Duration(i)*spacing
	}
	there := across(network.Line(emulate.Gateway, emulate.Receiver), sent)
	back := across(network.Line(emulate.Receiver, emulate.Gateway), there)
	record := Record{Order: order, Sender: map[string][]int64{}, Receiver: map[string][]int64{}}
	for i := range sent {
		number, rtt := int64(i+1), int64(-1)
		if back[i] != emulate.Never {
			rtt = (back[i] - sent[i]).Microseconds()
		}
		put(record.Sender, map[string]int64{"elapsed_us": (sent[i] - start).Microseconds(), "probe_number": number, "probe_rtt_us": rtt})
		if there[i] != emulate.Never {
			put(record.Receiver, map[string]int64{"elapsed_us": (there[i] - start).Microseconds(), "probe_number": number})
		}
	}
	return record
}

// across says when each of packets that enter a line at the given moments leaves it; emulate.Never: does not enter, or is lost.
func across(line *emulate.Line, entered []time.Duration) []time.Duration {
	order := make([]int, 0, len(entered))
	for i, at := range entered {
		if at != emulate.Never {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(entered[a] - entered[b]) })
	packets := make([]emulate.Packet, len(entered))
	for _, i := range order {
		packets[i].SizeBytes = probeBytes
		line.Step(entered[i], &packets[i], nil)
	}
	line.Step(emulate.Never-1, nil, nil)
	left := make([]time.Duration, len(entered))
	for i := range packets {
		if left[i] = packets[i].LeftAt; entered[i] == emulate.Never || packets[i].Lost != emulate.NotLost {
			left[i] = emulate.Never
		}
	}
	return left
}

func put(columns map[string][]int64, row map[string]int64) {
	for name, value := range row {
		columns[name] = append(columns[name], value)
	}
}
