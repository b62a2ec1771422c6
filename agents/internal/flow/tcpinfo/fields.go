package tcpinfo

import (
	"encoding/binary"
	"math"
)

// Ends says which end of a flow records a field.
type Ends string

// The values of Ends, as fields.csv spells them.
const (
	EndsBoth     Ends = "both"
	EndsSender   Ends = "sender"
	EndsReceiver Ends = "receiver"
)

// Field is one row of docs/fields.csv: a name, its unit, who records it, and how to read it.
type Field struct {
	Name string
	Unit string
	Ends Ends
	// EndByte is the length of tcp_info that first contains the field; 0 when the agent itself measures it.
	EndByte int
	read    func(blob []byte) int64
}

// Names of the two fields that do not come from the kernel.
const (
	FieldElapsed  = "elapsed_us"
	FieldAppBytes = "app_bytes"
)

// unlimited is what the kernel reports as pacing rate of a socket that is not paced.
const unlimited = math.MaxUint64

// Fields are the polled fields in the order of docs/fields.csv.
// Offsets follow struct tcp_info in include/uapi/linux/tcp.h.
var Fields = []Field{
	{FieldElapsed, "us", EndsBoth, 0, nil},
	{"ca_state", "code", EndsBoth, 2, u8(1)},
	{"cwnd_segments", "segments", EndsSender, 84, u32(80)},
	{"ssthresh_segments", "segments", EndsSender, 80, u32(76)},
	{"unacked_segments", "segments", EndsSender, 28, u32(24)},
	{"sacked_segments", "segments", EndsSender, 32, u32(28)},
	{"lost_segments", "segments", EndsSender, 36, u32(32)},
	{"retrans_segments", "segments", EndsSender, 40, u32(36)},
	{"rtt_us", "us", EndsSender, 72, u32(68)},
	{"rttvar_us", "us", EndsSender, 76, u32(72)},
	{"min_rtt_us", "us", EndsSender, 152, u32(148)},
	{"rto_us", "us", EndsSender, 12, u32(8)},
	{"snd_mss_bytes", "bytes", EndsSender, 20, u32(16)},
	{"rcv_mss_bytes", "bytes", EndsReceiver, 24, u32(20)},
	{"rcv_rtt_us", "us", EndsReceiver, 96, u32(92)},
	{"rcv_space_bytes", "bytes", EndsReceiver, 100, u32(96)},
	{"total_retrans_segments", "segments", EndsSender, 104, u32(100)},
	{"pacing_rate_bps", "bps", EndsSender, 112, pacing(104)},
	{"acked_bytes", "bytes", EndsSender, 128, u64(120)},
	{"received_bytes", "bytes", EndsReceiver, 136, u64(128)},
	{"notsent_bytes", "bytes", EndsSender, 148, u32(144)},
	{"delivery_rate_bps", "bps", EndsSender, 168, bits(160)},
	// One bit of byte 7, but only meaningful on kernels that also report the rate it speaks of.
	{"delivery_rate_app_limited", "flag", EndsSender, 168, lowestBit(7)},
	{"busy_us", "us", EndsSender, 176, u64(168)},
	{"rwnd_limited_us", "us", EndsSender, 184, u64(176)},
	{"sndbuf_limited_us", "us", EndsSender, 192, u64(184)},
	{"delivered_segments", "segments", EndsSender, 196, u32(192)},
	{"sent_bytes", "bytes", EndsSender, 208, u64(200)},
	{"retransmitted_bytes", "bytes", EndsSender, 216, u64(208)},
	{"dsack_dups_segments", "segments", EndsSender, 220, u32(216)},
	{"reord_seen", "events", EndsSender, 224, u32(220)},
	{"ooo_segments", "segments", EndsReceiver, 228, u32(224)},
	{"snd_wnd_bytes", "bytes", EndsSender, 232, u32(228)},
	{"rcv_wnd_bytes", "bytes", EndsReceiver, 236, u32(232)},
	{"total_rto", "events", EndsSender, 242, u16(240)},
	{FieldAppBytes, "bytes", EndsBoth, 0, nil},
}

// AckFields are those that only per-ACK traces have, in the order of docs/fields.csv, where they follow Fields.
var AckFields = []Field{
	{"ack_rtt_us", "us", EndsSender, 0, nil},
	{"in_flight_segments", "segments", EndsSender, 0, nil},
	{"lost_total_segments", "segments", EndsSender, 0, nil},
	{"app_limited", "flag", EndsSender, 0, nil},
	{"detector_state", "code", EndsSender, 0, nil},
	{"detector_value", "code", EndsSender, 0, nil},
}

// BBRFields are those that only traces of BBR flows have, in the order of docs/fields.csv, where they follow AckFields.
var BBRFields = []Field{
	{"bbr_bandwidth_bps", "bps", EndsSender, 0, nil},
	{"bbr_min_rtt_us", "us", EndsSender, 0, nil},
	{"bbr_pacing_gain_256ths", "256ths", EndsSender, 0, nil},
	{"bbr_cwnd_gain_256ths", "256ths", EndsSender, 0, nil},
}

// Names of the fields of probe flows.
const (
	FieldProbeNumber = "probe_number"
	FieldProbeRTT    = "probe_rtt_us"
)

// ProbeFields are those that only probe flows have beside elapsed_us, in the order of docs/fields.csv, where they follow
// BBRFields.
var ProbeFields = []Field{
	{FieldProbeNumber, "probes", EndsBoth, 0, nil},
	{FieldProbeRTT, "us", EndsSender, 0, nil},
}

// Extra are columns of a flow beside those of tcp_info. The zero value is none.
type Extra struct {
	Fields []Field
	// Read writes the state of the moment into row, which has a place for each of Fields; what it cannot read it leaves.
	Read func(row []int64)
}

// Names lists the fields in order.
func (e Extra) Names() []string {
	names := make([]string, len(e.Fields))
	for i := range e.Fields {
		names[i] = e.Fields[i].Name
	}
	return names
}

// Layout is the list of fields that one end records on a kernel that returns a given length.
type Layout struct {
	fields []Field
}

// NewLayout keeps the fields of one end that fit into length bytes of tcp_info.
func NewLayout(end Ends, length int) Layout {
	var layout Layout
	for _, field := range Fields {
		if (field.Ends == EndsBoth || field.Ends == end) && field.EndByte <= length {
			layout.fields = append(layout.fields, field)
		}
	}
	return layout
}

// Names lists the fields in order.
func (l Layout) Names() []string {
	names := make([]string, len(l.fields))
	for i, field := range l.fields {
		names[i] = field.Name
	}
	return names
}

// Decode writes one sample into row, which must have one place per field of the layout.
// blob must be at least as long as the length that the layout was made for.
func (l Layout) Decode(blob []byte, elapsedUs, appBytes int64, row []int64) {
	for i := range l.fields {
		switch field := &l.fields[i]; {
		case field.read != nil:
			row[i] = field.read(blob)
		case field.Name == FieldElapsed:
			row[i] = elapsedUs
		default:
			row[i] = appBytes
		}
	}
}

func u8(at int) func([]byte) int64 {
	return func(b []byte) int64 { return int64(b[at]) }
}

func u16(at int) func([]byte) int64 {
	return func(b []byte) int64 { return int64(binary.NativeEndian.Uint16(b[at:])) }
}

func u32(at int) func([]byte) int64 {
	return func(b []byte) int64 { return int64(binary.NativeEndian.Uint32(b[at:])) }
}

func u64(at int) func([]byte) int64 {
	return func(b []byte) int64 { return clamp(binary.NativeEndian.Uint64(b[at:])) }
}

func lowestBit(at int) func([]byte) int64 {
	return func(b []byte) int64 { return int64(b[at] & 1) }
}

// bits turns the kernel's bytes per second into bits per second.
func bits(at int) func([]byte) int64 {
	return func(b []byte) int64 { return bytesToBits(binary.NativeEndian.Uint64(b[at:])) }
}

func pacing(at int) func([]byte) int64 {
	return func(b []byte) int64 {
		rate := binary.NativeEndian.Uint64(b[at:])
		if rate == unlimited {
			return -1
		}
		return bytesToBits(rate)
	}
}

func bytesToBits(rate uint64) int64 {
	if rate > math.MaxInt64/8 {
		return math.MaxInt64
	}
	return int64(rate) * 8
}

func clamp(value uint64) int64 {
	if value > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(value)
}
