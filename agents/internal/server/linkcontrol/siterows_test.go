package linkcontrol

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/intcp"
)

func TestMomentsOfRowsThinOut(t *testing.T) {
	count, last := int64(0), int64(-1)
	counts := map[int64]int64{}
	for moment := NextMoment(0); moment < 1<<20; moment = NextMoment(moment + 1) { // 29 hours
		require.Greater(t, moment, last)
		require.Equal(t, moment, NextMoment(moment))
		last = moment
		count++
		counts[moment/wholeMoments]++
	}
	require.EqualValues(t, wholeMoments, counts[0], "27 minutes")
	require.EqualValues(t, wholeMoments/2, counts[1])
	require.EqualValues(t, wholeMoments/4, counts[2])
	require.EqualValues(t, wholeMoments/4, counts[3])
	require.EqualValues(t, wholeMoments+6*wholeMoments/2, count, "half as many in each doubling")
}

// TestAMessageOfRowsStaysFarBelowItsBound: also where a link has more sites than there are.
func TestAMessageOfRowsStaysFarBelowItsBound(t *testing.T) {
	rows := make([]SiteRow, 2*mostRows+1)
	for i := range rows {
		rows[i] = SiteRow{
			math.MaxInt64, math.MaxInt32, math.MinInt32, math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64,
			math.MaxFloat64, math.MaxFloat64, math.MaxInt64, math.MaxInt64, math.MaxInt64,
		}
		rows[i].Place = i + 1
	}
	news := RelayNews{Seen: []RelaySeen{{Sites: 3}}, Rows: []SiteRows{{Content: 1, UntilUs: 100_000, Rows: rows, Missed: 5},
		{Content: 0, UntilUs: 100_000}}}
	messages := news.Answers()
	require.Len(t, messages, 5)
	client := &RelayClient{contents: []intcp.Name{{1}, {2}}, readers: map[intcp.Name][]*RowReader{}}
	empty, none := client.ReadRows(intcp.Name{1}), client.ReadRows(intcp.Name{3})
	one, other := client.ReadRows(intcp.Name{2}), client.ReadRows(intcp.Name{2})
	for _, message := range messages[1:] {
		text, err := json.Marshal(message)
		require.NoError(t, err)
		require.Less(t, len(text), maxAnswer/2)
		var heard Answer
		require.NoError(t, json.Unmarshal(text, &heard))
		client.keepRows(heard.Rows)
	}
	for _, reader := range []*RowReader{one, other} { // each has all
		came, untilUs, dropped := reader.Take()
		require.Equal(t, rows, came)
		require.EqualValues(t, 100_000, untilUs)
		require.EqualValues(t, 5, dropped, "once, however many messages it took")
		came, untilUs, dropped = reader.Take()
		require.Empty(t, came)
		require.EqualValues(t, 100_000, untilUs)
		require.Zero(t, dropped)
	}
	came, untilUs, dropped := empty.Take()
	require.Empty(t, came)
	require.EqualValues(t, 100_000, untilUs, "a way without sites has no rows, and time goes on")
	require.Zero(t, dropped)
	client.keepRows(&SiteRows{Content: 2})
	_, untilUs, _ = none.Take()
	require.EqualValues(t, -1, untilUs, "no content of this run")
}

func TestRowsThatNobodyTakesAreBoundedAndCounted(t *testing.T) {
	client := &RelayClient{contents: []intcp.Name{{1}}, readers: map[intcp.Name][]*RowReader{}}
	slow, prompt := client.ReadRows(intcp.Name{1}), client.ReadRows(intcp.Name{1})
	const messages = mostWaiting/mostRows + 2
	for range messages {
		client.keepRows(&SiteRows{Rows: make([]SiteRow, mostRows)})
		rows, _, dropped := prompt.Take()
		require.Len(t, rows, mostRows)
		require.Zero(t, dropped, "one that is slow costs the other nothing")
	}
	rows, _, dropped := slow.Take()
	require.Len(t, rows, mostWaiting)
	require.EqualValues(t, messages*mostRows-mostWaiting, dropped)
}
