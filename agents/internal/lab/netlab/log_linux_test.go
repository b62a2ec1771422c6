package netlab

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/measure"
	"downlink/agents/internal/testing/hosttest"
)

// logged reads a log: its rows of one way, by column.
func logged(t *testing.T, log []byte, from string) (rows []map[string]float64) {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(log)).ReadAll()
	require.NoError(t, err)
	for _, line := range lines[1:] {
		if line[1] != from {
			continue
		}
		row := map[string]float64{}
		for i, name := range lines[0] {
			if name != "from" && name != "to" {
				row[name], err = strconv.ParseFloat(line[i], 64)
				require.NoError(t, err)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func TestALinksLogHasARowForEachMoment(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	hosttest.NeedRoot(t)
	profile, err := emulate.LoadProfile("geo-viasat-unframed")
	require.NoError(t, err)
	profile.Down.Loss.Outages = &emulate.Outages{MeanLengthMs: 20, MeanSpacingS: 0.1}
	var log bytes.Buffer
	name := testName("log")
	lab, err := Up(Options{Name: name, Profile: profile, Seed: 5, Senders: 1, Log: &log})
	require.NoError(t, err)
	link, err := Find(name)
	require.NoError(t, err)
	_, err = measure.Probe(t.Context(), link.Hosts[Receiver], link.Hosts["sender-1"], 100, 10*time.Millisecond, time.Second)
	require.NoError(t, err)
	down, _ := lab.Counts()
	require.NoError(t, lab.Close())

	rows := logged(t, log.Bytes(), emulate.Gateway)
	require.Greater(t, len(rows), 150)
	outages := 0.0
	for i, row := range rows {
		require.InDelta(t, 10*float64(i), row["at_ms"], 0, "rows are 10 ms apart, however late the pump was")
		arrived := row["delivered_bytes"] + row["queued_bytes"]
		for _, cause := range emulate.LostCauses() {
			arrived += row[strings.ReplaceAll(cause.String(), " ", "_")+"_bytes"]
		}
		require.InDelta(t, row["received_bytes"], arrived, 0)
		require.InDelta(t, 144e6, row["rate_bps"], 0)
		require.InDelta(t, 276, row["delay_ms"], 0)
		outages += row["is_outage"]
	}
	require.InDelta(t, 0.17, outages/float64(len(rows)), 0.12, "20 of 120 ms")
	last := rows[len(rows)-1]
	require.InDelta(t, float64(down.ReceivedBytes), last["received_bytes"], 0)
	require.Positive(t, last["outage_bytes"], "an echo met an outage")
	require.Zero(t, last["queued_bytes"])
}
