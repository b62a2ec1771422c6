package controls

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"downlink/agents/internal/acks"
	"downlink/agents/internal/chunk"
	"downlink/agents/internal/hosttest"
	"downlink/agents/internal/socket"
	"downlink/agents/internal/tcpinfo"

	"github.com/cilium/ebpf"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// linkAcksPerS is how many acknowledgements a full link of 144 Mb/s has: one for every two packets of 1500 bytes.
// The emulated link, at 126 to 134 Mb/s, has 5,400 to 5,600.
const linkAcksPerS = 144e6 / 8 / (2 * 1500)

// What a record costs in the kernel and on its way into a chunk, over a veth pair paced to 1 Gb/s. Counting time in the
// kernel costs time itself, so that the share of a core is an upper bound.
func BenchmarkRecords(b *testing.B) {
	p := &path{sender: hosttest.NewNamespace(b), receiver: hosttest.NewNamespace(b)}
	hosttest.Join(b, p.sender, p.receiver, []string{"10.77.0.1/24"}, []string{"10.77.0.2/24"})
	loaded, err := Load("dl_cubic_nohs", nil)
	require.NoError(b, err)
	defer func() { _ = loaded.Close() }()
	statistics, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	require.NoError(b, err)
	defer func() { _ = statistics.Close() }()
	for b.Loop() {
		records, dropped, readerNs := recordAtFullSpeed(b, p, loaded)
		info, err := loaded.objects.Programs["nohs_pkts_acked"].Stats()
		require.NoError(b, err)
		kernelNs := float64(info.Runtime.Nanoseconds()) / float64(info.RunCount)
		b.ReportMetric(kernelNs, "kernel-ns/ack")
		b.ReportMetric(readerNs/float64(records), "reader-ns/ack")
		b.ReportMetric(float64(dropped), "dropped")
		b.ReportMetric((kernelNs+readerNs/float64(records))*linkAcksPerS/1e7, "%core-at-144Mb/s")
	}
}

func recordAtFullSpeed(b *testing.B, p *path, loaded *Loaded) (records int, dropped uint64, readerNs float64) {
	sender, receiver := p.connect(b, "dl_cubic_nohs")
	require.NoError(b, socket.LimitPacing(sender, 1_000_000_000))
	cookie, err := socket.Cookie(sender)
	require.NoError(b, err)
	reader, err := loaded.Watch(cookie, acks.RingBytes(1e9))
	require.NoError(b, err)
	trace := tcpinfo.NewRecorder(acks.Names, chunk.MaxSamples, func(block tcpinfo.Block) error {
		_, err := chunk.Encode(chunk.Header{Format: chunk.Format, Samples: len(block.Columns[0]), Fields: block.Names}, block.Columns)
		return err
	})
	var rows acks.Rows
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		before := threadCPU()
		err := reader.Run(ctx, func(ack *acks.Ack) {
			records++
			rows.Row(ack, trace.Row)
			trace.Add()
		})
		_, kept := trace.Close()
		readerNs = float64(threadCPU() - before)
		done <- errors.Join(err, kept)
	}()
	sendFor(sender, receiver, 2*time.Second)
	cancel()
	require.NoError(b, <-done)
	tally, err := reader.Tally()
	require.NoError(b, err)
	require.NoError(b, reader.Close())
	return records, tally.Dropped, readerNs
}

func threadCPU() int64 {
	var usage unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}
