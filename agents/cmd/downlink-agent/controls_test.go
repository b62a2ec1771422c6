package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"downlink/agents/internal/flow/controls"
	"downlink/agents/internal/testing/hosttest"

	"github.com/stretchr/testify/require"
)

func TestControlsListNamesEveryControlWithItsOptions(t *testing.T) {
	hosttest.NeedRoot(t)
	rows := controlRows()
	require.Len(t, rows, len(controls.Catalog()))
	for _, row := range rows {
		require.True(t, row.Able, row.Reason)
	}
	var output bytes.Buffer
	require.NoError(t, printControls(&output, rows, controls.CanRecordAcks()))
	require.Contains(t, output.String(), "Every ACK can be recorded here")
	require.Contains(t, output.String(), "--option version=3.1")
	require.Contains(t, output.String(), "can run here")
}

func TestControlsListGivesTheReason(t *testing.T) {
	var output bytes.Buffer
	rows := []controlRow{{Name: "dl_x", Reason: "it has no type information"}}
	require.NoError(t, printControls(&output, rows, errors.New("no privilege")))
	require.Contains(t, output.String(), "their ACKs cannot be recorded: no privilege")
	require.Contains(t, output.String(), "cannot run here: it has no type information")
}

func TestControlsLoadHoldsUntilItIsEnded(t *testing.T) {
	hosttest.NeedRoot(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	command := controlsLoadCmd{Names: []string{"dl_hybla", "dl_cubic_nohs"}}
	go func() { done <- command.Run(ctx) }()
	require.Eventually(t, func() bool { return strings.Contains(offered(t), "dl_cubic_nohs") }, 5e9, 1e7)
	require.Contains(t, offered(t), "dl_hybla")
	cancel()
	require.NoError(t, <-done)
	require.NotContains(t, offered(t), "dl_")
}

func TestControlsLoadRefusesWhatItCannotDo(t *testing.T) {
	for _, example := range []struct {
		command controlsLoadCmd
		says    string
	}{
		{controlsLoadCmd{Names: []string{"dl_nothing"}}, "there are dl_cubic_best"},
		{controlsLoadCmd{Names: []string{"dl_hybla"}, Options: []string{"rtt0_ms"}}, "not of the form name=value"},
		{controlsLoadCmd{Names: []string{"dl_hybla", "dl_vivace"}, Options: []string{"rtt0_ms=5"}}, "one by one"},
		{controlsLoadCmd{Names: []string{"dl_hybla"}, Options: []string{"rtt0_ms=0"}}, "from 1 to 10000"},
	} {
		require.ErrorContains(t, example.command.Run(t.Context()), example.says)
	}
}

func offered(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
	require.NoError(t, err)
	return string(content)
}
