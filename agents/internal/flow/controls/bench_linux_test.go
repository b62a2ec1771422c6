package controls

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/server/spool"
	"downlink/agents/internal/testing/hosttest"

	"github.com/cilium/ebpf"
	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// busyAcksPerS is twice what a full link of 144 Mb/s has, whose receiver acknowledges every second packet of 1500 bytes.
const busyAcksPerS = 12_400

// What a record costs in the kernel, out of the ring and into a chunk, over a veth pair paced to 1 Gb/s. Counting time in
// the kernel costs time itself, so that the share of a core is an upper bound.
func BenchmarkRecords(b *testing.B) {
	p := fastPath(b)
	loaded, err := Load("dl_cubic_nohs", nil)
	require.NoError(b, err)
	defer func() { _ = loaded.Close() }()
	statistics, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	require.NoError(b, err)
	defer func() { _ = statistics.Close() }()
	for b.Loop() {
		var packing work
		cost := recordAtFullSpeed(b, p, loaded, hosttest.Size(2*time.Second, 300*time.Millisecond), packing.around(pack))
		info, err := loaded.objects.Programs["nohs_pkts_acked"].Stats()
		require.NoError(b, err)
		records := float64(cost.records)
		kernelNs := float64(info.Runtime.Nanoseconds()) / float64(info.RunCount)
		readerNs, packingNs := float64(cost.readerNs)/records, float64(packing.ns)/records
		hosttest.Row{
			Name: "a record per ACK at 12,400 ACKs/s", Value: (kernelNs + readerNs + packingNs) * busyAcksPerS / 1e7, Unit: "% of a core",
			Goal: "<= 2",
			Remark: fmt.Sprintf("ns per ACK: kernel %.0f, reader %.0f, packing %.0f, of %.0f ACKs/s; a full link of 144 Mb/s has 6,000",
				kernelNs, readerNs, packingNs, records/2),
		}.Print()
	}
}

// BenchmarkRecordsOnAStallingDisk lets the disk stand still for two seconds in the middle of a flow of 1 Gb/s.
func BenchmarkRecordsOnAStallingDisk(b *testing.B) {
	p := fastPath(b)
	loaded, err := Load("dl_cubic_nohs", nil)
	require.NoError(b, err)
	defer func() { _ = loaded.Close() }()
	lasts := hosttest.Size(4*time.Second, 400*time.Millisecond)
	hosttest.OnStallingDisk(b, func(dir string, stall func(time.Duration)) {
		chunks, err := spool.Open(filepath.Join(dir, "spool"), 0)
		require.NoError(b, err)
		for b.Loop() {
			stalled := make(chan struct{})
			time.AfterFunc(lasts/4, func() { stall(lasts / 2); close(stalled) })
			cost := recordAtFullSpeed(b, p, loaded, lasts, func(block tcpinfo.Block) error { return store(chunks, block) })
			<-stalled
			hosttest.Row{
				Name: "records lost to a disk that stalls 2 s", Value: float64(cost.dropped), Unit: "records", Goal: "<= 0",
				Remark: fmt.Sprintf("of %d at 1 Gb/s", cost.records),
			}.Print()
		}
	})
}

// fastPath is two namespaces joined directly. Packets travel by twos and the receiver acknowledges each two at once, as over
// a wire: by default one packet of 64 KB, or one read of a busy receiver, would have one acknowledgement.
func fastPath(t testing.TB) *path {
	t.Helper()
	p := &path{sender: hosttest.NewNamespace(t), receiver: hosttest.NewNamespace(t)}
	hosttest.Join(t, p.sender, p.receiver, []string{"10.77.0.1/24"}, []string{"10.77.0.2/24"})
	p.sender.Do(t, func() {
		data, err := netlink.LinkByName("data")
		require.NoError(t, err)
		require.NoError(t, netlink.LinkSetGSOMaxSegs(data, 2))
		grantBuffers(t)
	})
	p.receiver.Do(t, func() {
		grantBuffers(t)
		data, err := netlink.LinkByName("data")
		require.NoError(t, err)
		routes, err := netlink.RouteList(data, netlink.FAMILY_V4)
		require.NoError(t, err)
		require.Len(t, routes, 1)
		routes[0].QuickACK = 1
		require.NoError(t, netlink.RouteReplace(&routes[0]))
	})
	return p
}

func pack(block tcpinfo.Block) error {
	_, err := encode(block)
	return err
}

func encode(block tcpinfo.Block) ([]byte, error) {
	return chunk.Encode(chunk.Header{Format: chunk.Format, Samples: len(block.Columns[0]), Fields: block.Names}, block.Columns)
}

func store(chunks *spool.Spool, block tcpinfo.Block) error {
	packed, err := encode(block)
	if err != nil {
		return err
	}
	return chunks.Put(spool.Key{RunID: "bench", Flow: 1, Point: "sender", Sequence: block.Sequence}, packed)
}

// work is the processor time of calls.
type work struct{ ns int64 }

func (w *work) around(sink func(tcpinfo.Block) error) func(tcpinfo.Block) error {
	return func(block tcpinfo.Block) error {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		before := threadCPU()
		defer func() { w.ns += threadCPU() - before }()
		return sink(block)
	}
}

// cost is what the records of one flow came to.
type cost struct {
	records  int
	dropped  uint64
	readerNs int64
}

func recordAtFullSpeed(t testing.TB, p *path, loaded *Loaded, lasts time.Duration, sink func(tcpinfo.Block) error) (c cost) {
	t.Helper()
	sender, receiver := p.connect(t, "dl_cubic_nohs")
	require.NoError(t, socket.LimitPacing(sender, 1_000_000_000))
	cookie, err := socket.Cookie(sender)
	require.NoError(t, err)
	reader, err := loaded.Watch(cookie, acks.RingBytes(1e9))
	require.NoError(t, err)
	trace := tcpinfo.NewRecorder(acks.Names, chunk.MaxSamples, sink)
	var rows acks.Rows
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		before := threadCPU()
		err := reader.Run(ctx, func(ack *acks.Ack) {
			c.records++
			rows.Row(ack, trace.Row)
			trace.Add()
		})
		c.readerNs = threadCPU() - before
		_, kept := trace.Close()
		done <- errors.Join(err, kept)
	}()
	sendFor(sender, receiver, lasts)
	cancel()
	require.NoError(t, <-done)
	tally, err := reader.Tally()
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	c.dropped = tally.Dropped
	return c
}

func threadCPU() int64 {
	var usage unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}
