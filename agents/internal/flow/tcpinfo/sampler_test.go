package tcpinfo

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// loopbackPair returns both ends of a TCP connection over loopback.
func loopbackPair(t testing.TB) (*net.TCPConn, *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	dialed, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	accepted, err := listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = dialed.Close(); _ = accepted.Close() })
	return accepted.(*net.TCPConn), dialed.(*net.TCPConn)
}

// collect gathers copies of all blocks.
type collect struct{ blocks []Block }

func (c *collect) sink(block Block) error {
	kept := Block{Names: block.Names, Sequence: block.Sequence}
	for _, column := range block.Columns {
		kept.Columns = append(kept.Columns, append([]int64(nil), column...))
	}
	c.blocks = append(c.blocks, kept)
	return nil
}

func newSampler(conn *net.TCPConn, sink func(Block) error) *Sampler {
	return &Sampler{
		Conn: conn, End: EndsSender, Interval: time.Millisecond, Zero: time.Now(),
		AppBytes: new(atomic.Int64), BlockSamples: 20, Sink: sink,
	}
}

func TestSamplerSeesTheBytesOfARealConnection(t *testing.T) {
	sender, receiver := loopbackPair(t)
	var got collect
	sampler := newSampler(sender, got.sink)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		_, _ = sender.Write(make([]byte, 100_000))
		sampler.AppBytes.Store(100_000)
		_, _ = io.CopyN(io.Discard, receiver, 100_000)
		time.Sleep(50 * time.Millisecond) // at least one full block of samples
	}()
	stats, err := sampler.Run(ctx)
	require.NoError(t, err)
	require.Equal(t, len(got.blocks), stats.Blocks)
	require.GreaterOrEqual(t, stats.TCPInfoBytes, 232)
	last := got.blocks[len(got.blocks)-1]
	require.Equal(t, int64(100_000), lastOf(last, "app_bytes"))
	require.Equal(t, int64(100_000), lastOf(last, "acked_bytes"), "every byte was acknowledged")
	requireStrictlyIncreasing(t, got.blocks, stats.Samples)
}

func TestABlockOfOneSampleIsABlock(t *testing.T) {
	sender, _ := loopbackPair(t)
	var got collect
	sampler := newSampler(sender, got.sink)
	sampler.BlockSamples = 1
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stats, err := sampler.Run(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, stats.Samples)
	require.Equal(t, 1, stats.Blocks)
	requireStrictlyIncreasing(t, got.blocks, stats.Samples)
}

func TestASampleEndsWithWhatElseIsRead(t *testing.T) {
	sender, _ := loopbackPair(t)
	var got collect
	sampler := newSampler(sender, got.sink)
	sampler.Extra = Extra{Fields: []Field{{Name: "one"}, {Name: "two"}}, Read: func(row []int64) {
		require.Len(t, row, 2)
		row[0], row[1] = 1, 2
	}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := sampler.Run(ctx)
	require.NoError(t, err)
	require.Len(t, got.blocks, 1)
	require.Equal(t, int64(1), lastOf(got.blocks[0], "one"))
	require.Equal(t, int64(2), lastOf(got.blocks[0], "two"))
}

func lastOf(block Block, name string) int64 {
	for i, other := range block.Names {
		if other == name {
			return block.Columns[i][len(block.Columns[i])-1]
		}
	}
	return -1
}

func requireStrictlyIncreasing(t *testing.T, blocks []Block, samples int) {
	t.Helper()
	previous, seen := int64(-1), 0
	for i, block := range blocks {
		require.Equal(t, i, block.Sequence)
		for _, elapsed := range block.Columns[0] {
			require.Greater(t, elapsed, previous)
			previous = elapsed
			seen++
		}
	}
	require.Equal(t, samples, seen)
}

func TestSamplerEndsWhenItsConnectionIsClosed(t *testing.T) {
	sender, _ := loopbackPair(t)
	sampler := newSampler(sender, new(collect).sink)
	time.AfterFunc(10*time.Millisecond, func() { _ = sender.Close() })
	stats, err := sampler.Run(t.Context())
	require.NoError(t, err)
	require.Positive(t, stats.Samples)
}

func TestSamplerReportsAFailingSink(t *testing.T) {
	sender, _ := loopbackPair(t)
	full := errors.New("disk full")
	sampler := newSampler(sender, func(Block) error { return full })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := sampler.Run(ctx)
	require.ErrorIs(t, err, full)
}

func TestTheSilenceOfAPeerIsKnown(t *testing.T) {
	sender, receiver := loopbackPair(t)
	_, err := sender.Write([]byte("x"))
	require.NoError(t, err)
	_, err = io.ReadFull(receiver, make([]byte, 1))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		silence, err := SinceLastAck(sender)
		return err == nil && silence >= 20*time.Millisecond
	}, time.Minute, time.Millisecond)
	silence, err := SinceLastAck(sender)
	require.NoError(t, err)
	require.Less(t, silence, time.Minute)
}

func TestAThreadIsGivenBackAsItWas(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := unix.SchedGetAttr(0, 0)
	require.NoError(t, err)
	preferThread()()
	after, err := unix.SchedGetAttr(0, 0)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestTicksThatPassedAreLeftOut(t *testing.T) {
	require.Equal(t, int64(110), nextDue(100, 103, 10))
	require.Equal(t, int64(140), nextDue(100, 135, 10))
	require.Equal(t, int64(140), nextDue(100, 130, 10))
	require.Equal(t, int64(130), nextDue(100, 129, 10))
	require.Equal(t, int64(110), nextDue(100, 80, 10), "a clock never runs back, and a tick neither")
}

func TestLatenessIsAMeanOfAllTicksOrNone(t *testing.T) {
	r := &recording{}
	require.Zero(t, r.stats().LatenessMeanUs)
	for _, lateNs := range []int64{3000, 5000} {
		r.noteLateness(lateNs)
		require.InDelta(t, float64(r.lateSum)/1000/float64(r.lateSeen), r.stats().LatenessMeanUs, 0)
	}
	require.InDelta(t, 4, r.stats().LatenessMeanUs, 0)
	require.InDelta(t, 5, r.stats().LatenessMaxUs, 0)
}

func TestASampleAllocatesNothing(t *testing.T) {
	sender, _ := loopbackPair(t)
	raw, err := sender.SyscallConn()
	require.NoError(t, err)
	sampler := newSampler(sender, nil)
	sampler.BlockSamples = 10_000
	length, err := Length()
	require.NoError(t, err)
	layout := NewLayout(EndsSender, length)
	r := &recording{sampler: sampler, reader: newReader(raw), layout: layout, row: make([]int64, len(layout.fields)),
		block: newBlock(layout.Names(), sampler.BlockSamples)}
	allocations := testing.AllocsPerRun(1000, func() { r.sample() })
	require.Less(t, allocations, 0.01)
}

func BenchmarkSample(b *testing.B) {
	sender, _ := loopbackPair(b)
	raw, _ := sender.SyscallConn()
	sampler := newSampler(sender, nil)
	length, _ := Length()
	layout := NewLayout(EndsSender, length)
	r := &recording{sampler: sampler, reader: newReader(raw), layout: layout, row: make([]int64, len(layout.fields))}
	for b.Loop() {
		_ = r.reader.read()
		layout.Decode(r.reader.buffer[:], 1, 2, r.row)
	}
}
