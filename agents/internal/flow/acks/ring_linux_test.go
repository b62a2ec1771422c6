package acks_test

import (
	"context"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/flow/controls"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/testing/hosttest"

	"github.com/stretchr/testify/require"
)

// watch returns a connection over loopback with the reader of its records.
func watch(t *testing.T, ringBytes int) (sender, receiver *net.TCPConn, reader *acks.Reader) {
	t.Helper()
	hosttest.NeedRoot(t)
	loaded, err := controls.Load("dl_cubic_nohs", nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = loaded.Close() })
	sender, receiver = hosttest.Connect(t)
	_, err = socket.SetControl(sender, "dl_cubic_nohs")
	require.NoError(t, err)
	cookie, err := socket.Cookie(sender)
	require.NoError(t, err)
	reader, err = loaded.Watch(cookie, ringBytes)
	require.NoError(t, err)
	return sender, receiver, reader
}

func TestDroppedRecordsAreCounted(t *testing.T) {
	sender, receiver, reader := watch(t, os.Getpagesize()) // about twenty records
	for range 100 {                                        // nobody reads
		hosttest.Send(t, sender, receiver, 10_000)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var kept uint64
	require.NoError(t, reader.Run(ctx, func(*acks.Ack) { kept++ }))
	tally, err := reader.Tally()
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	require.Positive(t, tally.Dropped)
	require.Equal(t, tally.Acks, kept+tally.Dropped)
}

func TestADiskThatStandsStillLosesNoRecord(t *testing.T) {
	sender, receiver, reader := watch(t, os.Getpagesize()) // about twenty records
	isDiskBack := make(chan struct{})
	repair := sync.OnceFunc(func() { close(isDiskBack) })
	defer repair()
	trace := tcpinfo.NewRecorder(acks.Names, 50, func(tcpinfo.Block) error { <-isDiskBack; return nil })
	var rows acks.Rows
	var read atomic.Uint64
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- reader.Run(ctx, func(ack *acks.Ack) { read.Add(1); rows.Row(ack, trace.Row); trace.Add() })
	}()
	for read.Load() < 200 {
		before := read.Load()
		for range 5 {
			hosttest.Send(t, sender, receiver, 10_000)
		}
		require.Eventually(t, func() bool { return read.Load() > before }, 5*time.Second, time.Millisecond,
			"after %d records nobody empties the ring", before)
	}
	cancel()
	repair()
	require.NoError(t, <-done)
	stats, err := trace.Close()
	require.NoError(t, err)
	tally, err := reader.Tally()
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	require.Zero(t, tally.Dropped)
	require.EqualValues(t, tally.Acks, stats.Samples)
}
