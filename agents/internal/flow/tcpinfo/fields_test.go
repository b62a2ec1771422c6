package tcpinfo

import (
	"encoding/binary"
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func readFieldsCSV(t *testing.T) [][]string {
	t.Helper()
	file, err := os.Open("../../../../docs/fields.csv")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"name", "unit", "kind", "ends", "min_kernel", "tcp_info_end"}, rows[0][:6])
	return rows[1:]
}

func TestFieldsEqualTheDocumentedList(t *testing.T) {
	rows := readFieldsCSV(t)
	listed := slices.Concat(Fields, AckFields, BBRFields, ProbeFields)
	require.Greater(t, len(rows), len(listed)+1, "what other transports record follows")
	require.Equal(t, "snd_nxt_bytes", rows[len(listed)][0], "imported traces alone have it")
	for i, row := range rows[:len(listed)] {
		end := ""
		if listed[i].EndByte > 0 {
			end = strconv.Itoa(listed[i].EndByte)
		}
		got := []string{listed[i].Name, listed[i].Unit, string(listed[i].Ends), end}
		require.Equal(t, []string{row[0], row[1], row[3], row[5]}, got)
	}
}

// goldenBlob has a recognisable value in every field: its own byte offset, or a rate where noted below.
func goldenBlob(length int) []byte {
	blob := make([]byte, length)
	for i := range blob {
		blob[i] = byte(i)
	}
	put32 := func(at int, value uint32) {
		if at+4 <= length {
			binary.NativeEndian.PutUint32(blob[at:], value)
		}
	}
	put64 := func(at int, value uint64) {
		if at+8 <= length {
			binary.NativeEndian.PutUint64(blob[at:], value)
		}
	}
	for at := 8; at+4 <= 104; at += 4 {
		put32(at, uint32(at))
	}
	put32(76, math.MaxInt32)
	for _, at := range []int{104, 112, 120, 128, 160, 168, 176, 184, 200, 208} {
		put64(at, uint64(at))
	}
	for _, at := range []int{144, 148, 192, 196, 216, 220, 224, 228, 232} {
		put32(at, uint32(at))
	}
	if length >= 242 {
		binary.NativeEndian.PutUint16(blob[240:], 3)
	}
	return blob
}

func decode(end Ends, blob []byte) map[string]int64 {
	layout := NewLayout(end, len(blob))
	row := make([]int64, len(layout.Names()))
	layout.Decode(blob, 77, 88, row)
	values := map[string]int64{}
	for i, name := range layout.Names() {
		values[name] = row[i]
	}
	return values
}

func TestFieldsAppearWithTheLengthThatContainsThem(t *testing.T) {
	for _, example := range []struct {
		length           int
		sender, receiver int
		newest           string
	}{
		{104, 14, 6, "total_retrans_segments"},
		{192, 23, 7, "sndbuf_limited_us"},
		{232, 29, 8, "snd_wnd_bytes"},
		{248, 30, 9, "total_rto"},
		{280, 30, 9, "total_rto"},
		{280 + 40, 30, 9, "total_rto"},
	} {
		sender, receiver := decode(EndsSender, goldenBlob(example.length)), decode(EndsReceiver, goldenBlob(example.length))
		require.Contains(t, sender, example.newest, "length %d", example.length)
		require.Len(t, sender, example.sender)
		require.Len(t, receiver, example.receiver)
	}
}

func TestDecodedValuesStandAtTheirOffsets(t *testing.T) {
	sender := decode(EndsSender, goldenBlob(280))
	require.Equal(t, int64(77), sender["elapsed_us"])
	require.Equal(t, int64(88), sender["app_bytes"])
	require.Equal(t, int64(1), sender["ca_state"])
	require.Equal(t, int64(math.MaxInt32), sender["ssthresh_segments"], "never set")
	require.Equal(t, int64(80), sender["cwnd_segments"])
	require.Equal(t, int64(68), sender["rtt_us"])
	require.Equal(t, int64(148), sender["min_rtt_us"])
	require.Equal(t, int64(104*8), sender["pacing_rate_bps"], "bytes per second become bits per second")
	require.Equal(t, int64(160*8), sender["delivery_rate_bps"])
	require.Equal(t, int64(1), sender["delivery_rate_app_limited"], "lowest bit of byte 7")
	require.Equal(t, int64(120), sender["acked_bytes"])
	require.Equal(t, int64(192), sender["delivered_segments"])
	require.Equal(t, int64(200), sender["sent_bytes"])
	require.Equal(t, int64(228), sender["snd_wnd_bytes"])
	require.Equal(t, int64(3), sender["total_rto"])
	receiver := decode(EndsReceiver, goldenBlob(280))
	require.Equal(t, int64(92), receiver["rcv_rtt_us"])
	require.Equal(t, int64(128), receiver["received_bytes"])
	require.Equal(t, int64(232), receiver["rcv_wnd_bytes"])
	require.NotContains(t, receiver, "cwnd_segments")
}

func TestAnUnpacedSocketHasPacingRateMinusOne(t *testing.T) {
	blob := goldenBlob(280)
	binary.NativeEndian.PutUint64(blob[104:], math.MaxUint64)
	require.Equal(t, int64(-1), decode(EndsSender, blob)["pacing_rate_bps"])
}

func TestColumnsOfSitesEqualTheDocumentedList(t *testing.T) {
	var listed []string
	for _, row := range readFieldsCSV(t) {
		if row[0] == FieldElapsed || row[3] == string(EndsSites) {
			listed = append(listed, row[0])
		}
	}
	require.Equal(t, SiteNames, listed)
}
