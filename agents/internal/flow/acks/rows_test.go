package acks

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRowsHaveStrictlyIncreasingTimeAndKernelUnits(t *testing.T) {
	rows := Rows{ZeroNs: 1_000_000}
	row := make([]int64, len(Names))
	ack := Ack{TimeNs: 3_000_000, AckRttUs: -1, PacingRateBytesS: 1000, RateDeliveredSegments: 10, RateIntervalUs: 1_000_000,
		SndMssBytes: 1000, DetectorValue: ^uint32(4)}
	rows.Row(&ack, row)
	values := map[string]int64{}
	for i, name := range Names {
		values[name] = row[i]
	}
	require.EqualValues(t, 2000, values["elapsed_us"])
	require.EqualValues(t, -1, values["ack_rtt_us"])
	require.EqualValues(t, 8000, values["pacing_rate_bps"])
	require.EqualValues(t, 80_000, values["delivery_rate_bps"])
	require.EqualValues(t, -5, values["detector_value"])
	rows.Row(&ack, row)
	require.EqualValues(t, 2001, row[0])
}
