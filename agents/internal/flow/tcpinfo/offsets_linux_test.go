package tcpinfo

import (
	"context"
	"encoding/binary"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

type location struct{ at, size uintptr }

// published is where the kernel's header has each field: golang.org/x/sys/unix is generated from it.
func published() map[string]location {
	var i unix.TCPInfo
	return map[string]location{
		"ca_state":                  {unsafe.Offsetof(i.Ca_state), unsafe.Sizeof(i.Ca_state)},
		"cwnd_segments":             {unsafe.Offsetof(i.Snd_cwnd), unsafe.Sizeof(i.Snd_cwnd)},
		"ssthresh_segments":         {unsafe.Offsetof(i.Snd_ssthresh), unsafe.Sizeof(i.Snd_ssthresh)},
		"unacked_segments":          {unsafe.Offsetof(i.Unacked), unsafe.Sizeof(i.Unacked)},
		"sacked_segments":           {unsafe.Offsetof(i.Sacked), unsafe.Sizeof(i.Sacked)},
		"lost_segments":             {unsafe.Offsetof(i.Lost), unsafe.Sizeof(i.Lost)},
		"retrans_segments":          {unsafe.Offsetof(i.Retrans), unsafe.Sizeof(i.Retrans)},
		"rtt_us":                    {unsafe.Offsetof(i.Rtt), unsafe.Sizeof(i.Rtt)},
		"rttvar_us":                 {unsafe.Offsetof(i.Rttvar), unsafe.Sizeof(i.Rttvar)},
		"min_rtt_us":                {unsafe.Offsetof(i.Min_rtt), unsafe.Sizeof(i.Min_rtt)},
		"rto_us":                    {unsafe.Offsetof(i.Rto), unsafe.Sizeof(i.Rto)},
		"snd_mss_bytes":             {unsafe.Offsetof(i.Snd_mss), unsafe.Sizeof(i.Snd_mss)},
		"rcv_mss_bytes":             {unsafe.Offsetof(i.Rcv_mss), unsafe.Sizeof(i.Rcv_mss)},
		"rcv_rtt_us":                {unsafe.Offsetof(i.Rcv_rtt), unsafe.Sizeof(i.Rcv_rtt)},
		"rcv_space_bytes":           {unsafe.Offsetof(i.Rcv_space), unsafe.Sizeof(i.Rcv_space)},
		"total_retrans_segments":    {unsafe.Offsetof(i.Total_retrans), unsafe.Sizeof(i.Total_retrans)},
		"pacing_rate_bps":           {unsafe.Offsetof(i.Pacing_rate), unsafe.Sizeof(i.Pacing_rate)},
		"acked_bytes":               {unsafe.Offsetof(i.Bytes_acked), unsafe.Sizeof(i.Bytes_acked)},
		"received_bytes":            {unsafe.Offsetof(i.Bytes_received), unsafe.Sizeof(i.Bytes_received)},
		"notsent_bytes":             {unsafe.Offsetof(i.Notsent_bytes), unsafe.Sizeof(i.Notsent_bytes)},
		"delivery_rate_bps":         {unsafe.Offsetof(i.Delivery_rate), unsafe.Sizeof(i.Delivery_rate)},
		"busy_us":                   {unsafe.Offsetof(i.Busy_time), unsafe.Sizeof(i.Busy_time)},
		"rwnd_limited_us":           {unsafe.Offsetof(i.Rwnd_limited), unsafe.Sizeof(i.Rwnd_limited)},
		"sndbuf_limited_us":         {unsafe.Offsetof(i.Sndbuf_limited), unsafe.Sizeof(i.Sndbuf_limited)},
		"delivered_segments":        {unsafe.Offsetof(i.Delivered), unsafe.Sizeof(i.Delivered)},
		"sent_bytes":                {unsafe.Offsetof(i.Bytes_sent), unsafe.Sizeof(i.Bytes_sent)},
		"retransmitted_bytes":       {unsafe.Offsetof(i.Bytes_retrans), unsafe.Sizeof(i.Bytes_retrans)},
		"dsack_dups_segments":       {unsafe.Offsetof(i.Dsack_dups), unsafe.Sizeof(i.Dsack_dups)},
		"reord_seen":                {unsafe.Offsetof(i.Reord_seen), unsafe.Sizeof(i.Reord_seen)},
		"ooo_segments":              {unsafe.Offsetof(i.Rcv_ooopack), unsafe.Sizeof(i.Rcv_ooopack)},
		"snd_wnd_bytes":             {unsafe.Offsetof(i.Snd_wnd), unsafe.Sizeof(i.Snd_wnd)},
		"rcv_wnd_bytes":             {unsafe.Offsetof(i.Rcv_wnd), unsafe.Sizeof(i.Rcv_wnd)},
		"total_rto":                 {unsafe.Offsetof(i.Total_rto), unsafe.Sizeof(i.Total_rto)},
		"delivery_rate_app_limited": {unsafe.Offsetof(i.Delivery_rate) - 160 + 7, 1},
	}
}

func TestEachFieldIsReadFromItsBytesInTheKernelsHeader(t *testing.T) {
	where, read := published(), 0
	for _, field := range Fields {
		if field.read == nil {
			continue
		}
		read++
		place, known := where[field.Name]
		require.True(t, known, field.Name)
		unit := int64(1)
		if field.Unit == "bps" {
			unit = 8
		}
		for _, value := range []uint64{1, 1 << (8*place.size - 2)} {
			if field.Unit == "flag" {
				value = 1
			}
			blob := make([]byte, 300)
			var bytes [8]byte
			binary.NativeEndian.PutUint64(bytes[:], value) // little-endian, as every host that the BPF objects are for
			copy(blob[place.at:], bytes[:place.size])
			want := int64(value) * unit
			if field.Unit == "bps" && value > math.MaxInt64/8 {
				want = math.MaxInt64
			}
			require.Equal(t, want, field.read(blob), field.Name)
		}
		if field.Unit != "flag" {
			require.EqualValues(t, place.at+place.size, field.EndByte, field.Name)
		}
	}
	require.Len(t, where, read)
}

func TestOnlyTheLowestBitSaysThatTheApplicationLimits(t *testing.T) {
	blob := goldenBlob(280)
	blob[7] = 0xfe // the others are fastopen_client_fail
	require.Zero(t, decode(EndsSender, blob)["delivery_rate_app_limited"])
	blob[7] = 0xff
	require.EqualValues(t, 1, decode(EndsSender, blob)["delivery_rate_app_limited"])
}

func TestRatesAreClampedWhereBitsNoLongerFit(t *testing.T) {
	const most = math.MaxInt64 / 8 // bytes per second
	require.EqualValues(t, most*8, bytesToBits(most))
	require.EqualValues(t, math.MaxInt64, bytesToBits(most+1))
	require.EqualValues(t, math.MaxInt64, clamp(math.MaxInt64))
	require.EqualValues(t, math.MaxInt64, clamp(math.MaxInt64+1))
	require.EqualValues(t, math.MaxInt64-1, clamp(math.MaxInt64-1))
}

func TestAFieldNeedsEveryByteOfItself(t *testing.T) {
	for _, field := range Fields {
		if field.EndByte > 0 && field.Ends != EndsReceiver {
			require.Contains(t, NewLayout(EndsSender, field.EndByte).Names(), field.Name)
			require.NotContains(t, NewLayout(EndsSender, field.EndByte-1).Names(), field.Name)
		}
	}
}

func TestASampleLateByATickLeavesItOut(t *testing.T) {
	require.Equal(t, int64(110), nextDue(100, 109, 10))
	require.Equal(t, int64(120), nextDue(100, 110, 10))
}

func TestARecordingsFiguresAreThoseOfItsSamples(t *testing.T) {
	r := &recording{}
	require.Zero(t, r.stats(), "nothing was sampled")
	r.note(100)
	require.Equal(t, Stats{Samples: 1, FirstUs: 100, LastUs: 100}, r.stats(), "one sample has no rate and no gap")
	r.note(300)
	r.note(350)
	r.noteLateness(1000)
	r.noteLateness(4000)
	r.noteLateness(1000)
	require.Equal(t, Stats{
		Samples: 3, FirstUs: 100, LastUs: 350, LongestGapUs: 200, AchievedRateHz: 8000, LatenessMeanUs: 2, LatenessMaxUs: 4,
	}, r.stats())
}

func TestLatenessIsTheTimeOfTheSampleAfterItWasDue(t *testing.T) {
	r := &recording{zeroNs: 5_000_000, lastUs: 3_000_000}
	require.EqualValues(t, 12_000, r.lateNs(3_004_988_000))
	require.EqualValues(t, 2_995_000, r.elapsedUs(3_000_000_999))
}

func TestSamplesAreOnTheRunsClock(t *testing.T) {
	sender, _ := loopbackPair(t)
	var got collect
	sampler := newSampler(sender, got.sink)
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	stats, err := sampler.Run(ctx)
	require.NoError(t, err)
	require.GreaterOrEqual(t, stats.FirstUs, int64(0))
	require.LessOrEqual(t, stats.LastUs, time.Since(began).Microseconds()+1)
	require.Less(t, stats.LatenessMeanUs, float64(stats.LastUs+1))
	require.GreaterOrEqual(t, stats.LatenessMeanUs, -1.0)
	for _, block := range got.blocks[:len(got.blocks)-1] {
		require.Len(t, block.Columns[0], sampler.BlockSamples)
	}
}

// The clock of a sample may not have moved a microsecond on: the time of a trace strictly increases.
func TestASampleOfNoLaterTimeIsLeftOut(t *testing.T) {
	sender, _ := loopbackPair(t)
	raw, err := sender.SyscallConn()
	require.NoError(t, err)
	sampler := newSampler(sender, nil)
	layout := NewLayout(EndsSender, 232)
	r := &recording{
		sampler: sampler, reader: newReader(raw), layout: layout, zeroNs: ZeroNs(time.Now()),
		row: make([]int64, len(layout.fields)), block: newBlock(layout.Names(), sampler.BlockSamples), lastUs: math.MaxInt64,
	}
	require.True(t, r.sample(), "the first sample has none before it")
	require.Len(t, r.block.Columns[0], 1)
	r.lastUs = math.MaxInt64
	require.True(t, r.sample())
	require.Len(t, r.block.Columns[0], 1)
}

func TestARecorderKeepsTheLongestGapAndTheFirstTime(t *testing.T) {
	recorder := NewRecorder([]string{FieldElapsed}, 2, func(Block) error { return nil })
	for _, elapsedUs := range []int64{50, 250, 260} {
		recorder.Row[0] = elapsedUs
		recorder.Add()
	}
	stats, err := recorder.Close()
	require.NoError(t, err)
	require.Equal(t, Stats{Samples: 3, Blocks: 2, FirstUs: 50, LastUs: 260, LongestGapUs: 200, AchievedRateHz: 2 / 210e-6}, stats)
}

func TestARecorderThatIsFullToTheRowGivesNoEmptyBlock(t *testing.T) {
	var sizes []int
	recorder := NewRecorder([]string{FieldElapsed}, 2, func(block Block) error { sizes = append(sizes, len(block.Columns[0])); return nil })
	recorder.Add()
	recorder.Add()
	_, err := recorder.Close()
	require.NoError(t, err)
	require.Equal(t, []int{2}, sizes)
}
