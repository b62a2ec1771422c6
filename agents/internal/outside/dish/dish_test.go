package dish_test

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"

	"downlink/agents/internal/outside/dish"
	"downlink/agents/internal/outside/observe"
	"downlink/agents/internal/testing/dishtest"
)

func itoa(number int64) string { return strconv.FormatInt(number, 10) }

func values(found []observe.Observation) map[string]float64 {
	named := map[string]float64{}
	for _, one := range found {
		named[one.Source+" "+one.Quantity] = one.Value
	}
	return named
}

func open(t *testing.T, address string) *dish.Reader {
	t.Helper()
	d, err := dish.Open(address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return dish.NewReader(d)
}

const statusNow = `{"dish_get_status": {"obstruction_stats": {"fraction_obstructed": 0.25}, "device_state": {"uptime_s": 3600},
	"pop_ping_latency_ms": 31.5, "downlink_throughput_bps": "a word where a number was", "of_tomorrow": 7}}`

func TestADishIsReadByItsOwnDescriptionAndNeverSet(t *testing.T) {
	d := dishtest.Start(t, map[string]string{"get_status": statusNow, "get_history": `{"dish_get_history": {}}`})
	found, err := open(t, d.Address).Read(t.Context(), time.Now())
	require.NoError(t, err)
	require.Equal(t, map[string]float64{
		"dish dish.obstruction_ratio": 0.25, "dish dish.currently_obstructed": 0, "dish dish.ping_latency_ms": 31.5, "dish dish.uptime_s": 3600,
	}, values(found), "what it lacks, what is of another kind and what is new are left out")
	require.Equal(t, []string{"get_status", "get_history"}, d.Asked)
}

func TestAHistoryGivesTheMeanSinceTheLastLookAndEachOutageOnce(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	gps := now.Add(-30*time.Second).Sub(time.Date(1980, 1, 6, 0, 0, 0, 0, time.UTC)) + 18*time.Second
	outages := `, "outages": [{"start_timestamp_ns": ` + itoa(gps.Nanoseconds()) + `, "duration_ns": 1500000000}]`
	d := dishtest.Start(t, map[string]string{
		"get_status":  `{"dish_get_status": {}}`,
		"get_history": `{"dish_get_history": {"current": 4, "pop_ping_drop_rate": [1, 1, 1, 1]` + outages + `}}`,
	})
	reader := open(t, d.Address)
	first, err := reader.Read(t.Context(), now)
	require.NoError(t, err)
	require.Len(t, first, 1, "a first look has nothing before it: %v", first)
	outage := first[len(first)-1]
	require.Equal(t, observe.Observation{Quantity: "dish.outage_s", Unit: "s", Source: "dish", At: now.Add(-30 * time.Second), Value: 1.5},
		outage)
	// Seconds 4 and 5 lie at places 0 and 1 of a ring of four.
	d.Answers["get_history"] = `{"dish_get_history": {"current": 6, "pop_ping_drop_rate": [0.5, 0, 1, 1]` + outages + `}}`
	second, err := reader.Read(t.Context(), now.Add(2*time.Second))
	require.NoError(t, err)
	require.Equal(t, 0.25, values(second)["dish history dish.ping_drop_ratio"])
	require.NotContains(t, values(second), "dish dish.outage_s")
}

func ring(values ...float64) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = strconv.FormatFloat(value, 'f', -1, 64)
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// look reads twice with ten seconds between.
func look(t *testing.T, status, rings string) map[string]float64 {
	t.Helper()
	history := func(current string) string {
		return `{"dish_get_history": {"current": ` + current + `, ` + rings + `}}`
	}
	d := dishtest.Start(t, map[string]string{"get_status": status, "get_history": history("10")})
	reader := open(t, d.Address)
	_, err := reader.Read(t.Context(), time.Now())
	require.NoError(t, err)
	d.Answers["get_history"] = history("20")
	found, err := reader.Read(t.Context(), time.Now())
	require.NoError(t, err)
	return values(found)
}

// A firmware that no longer fills a field sends its type's zero, or nothing, which reads the same.
func TestAFieldThatAFirmwareNoLongerFillsIsAbsent(t *testing.T) {
	rings := `"pop_ping_latency_ms": ` + ring(40, 40, 40, 40, 40, 40, 40, 40, 40, 40)
	found := look(t, `{"dish_get_status": {"pop_ping_latency_ms": 0, "device_state": {"uptime_s": 0}}}`, rings)
	require.Equal(t, map[string]float64{"dish history dish.ping_latency_ms": 40}, found)
	found = look(t, `{"dish_get_status": {"pop_ping_latency_ms": 31, "device_state": {"uptime_s": 9}}}`, rings)
	require.Equal(t, 31.0, found["dish dish.ping_latency_ms"])
	require.Equal(t, 9.0, found["dish dish.uptime_s"])
}

// In a second in which every ping was lost the ring repeats an older latency.
func TestSecondsWithoutAnAnswerHaveNoLatency(t *testing.T) {
	status := `{"dish_get_status": {"pop_ping_latency_ms": 40}}`
	lost := `"pop_ping_drop_rate": ` + ring(0, 0, 0.5, 0, 0, 1, 1, 1, 1, 1)
	found := look(t, status, `"pop_ping_latency_ms": `+ring(40, 40, 40, 40, 40, 3480, 3480, 3480, 3480, 3480)+", "+lost)
	require.Equal(t, 40.0, found["dish history dish.ping_latency_ms"])
	require.InDelta(t, 0.55, found["dish history dish.ping_drop_ratio"], 1e-6)
	all := `"pop_ping_drop_rate": ` + ring(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	found = look(t, status, `"pop_ping_latency_ms": `+ring(40, 40, 40, 40, 40, 40, 40, 40, 40, 40)+", "+all)
	require.NotContains(t, found, "dish history dish.ping_latency_ms")
}

// A ring that is not filled, wholly or in parts, has zeros; some firmware writes -1.
func TestASecondWithoutALatencyIsNotInTheMean(t *testing.T) {
	none := ring(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	for latencies, expected := range map[string]map[string]float64{
		none: {},
		ring(40, 40, 0, 0, 40, 40, 40, 40, -1, 40): {"dish history dish.ping_latency_ms": 40, "dish history dish.ping_drop_ratio": 0},
	} {
		found := look(t, `{"dish_get_status": {"pop_ping_latency_ms": -1}}`, `"pop_ping_latency_ms": `+latencies+`, "pop_ping_drop_rate": `+none)
		require.Equal(t, expected, found)
	}
}

func TestADishThatLosesOneAnswerStillGivesTheOther(t *testing.T) {
	d := dishtest.Start(t, map[string]string{"get_status": statusNow})
	found, err := open(t, d.Address).Read(t.Context(), time.Now())
	require.ErrorContains(t, err, "not here")
	require.Equal(t, 0.25, values(found)["dish dish.obstruction_ratio"])
}

func TestWhatIsNoDishSaysSo(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	reflection.Register(server)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	found, err := open(t, listener.Addr().String()).Read(t.Context(), time.Now())
	require.ErrorContains(t, err, "does not describe itself")
	require.Empty(t, found)
}

// TestADishWithListsInPlaceOfMessagesIsNotUnderstood: as a later firmware, or another program at this address, may describe it.
func TestADishWithListsInPlaceOfMessagesIsNotUnderstood(t *testing.T) {
	for _, field := range []string{"get_status", "dish_get_status"} {
		d := dishtest.StartChanged(t, field, map[string]string{"get_status": `{"dish_get_status": [{"pop_ping_latency_ms": 31.5}]}`,
			"get_history": `{"dish_get_history": {}}`})
		found, err := open(t, d.Address).Read(t.Context(), time.Now())
		require.Error(t, err)
		require.Empty(t, found)
	}
}

// TestAnOutageOfNoMomentHidesNoneThatFollows: a start in the far future was taken for the last one.
func TestAnOutageOfNoMomentHidesNoneThatFollows(t *testing.T) {
	now := time.Now()
	outages := func(starts ...int64) string {
		text := ""
		for _, start := range starts {
			text += `{"start_timestamp_ns": "` + itoa(start) + `", "duration_ns": "2000000000"},`
		}
		return `{"dish_get_history": {"outages": [` + text[:len(text)-1] + `]}}`
	}
	answers := map[string]string{"get_status": `{"dish_get_status": {}}`, "get_history": outages(9e18)}
	reader := open(t, dishtest.Start(t, answers).Address)
	found, _ := reader.Read(t.Context(), now)
	require.NotContains(t, values(found), "dish dish.outage_s")
	answers["get_history"] = outages(9e18, now.Add(-time.Minute).UnixNano())
	found, _ = reader.Read(t.Context(), now)
	require.InDelta(t, 2.0, values(found)["dish dish.outage_s"], 0)
}
