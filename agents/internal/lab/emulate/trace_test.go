package emulate

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const exampleTrace = traceHeading + `
# a comment
at_ms,rate_bps,delay_ms,loss_ratio
0,12000000,10,0
10,0,20.5,0
20,6000000,5,1
`

func readTrace(t *testing.T, text string) *Trace {
	t.Helper()
	trace, err := ReadTrace(strings.NewReader(text))
	require.NoError(t, err)
	return trace
}

func TestATraceIsReadAndWritten(t *testing.T) {
	trace := readTrace(t, exampleTrace)
	require.Equal(t, &Trace{
		At: []time.Duration{0, 10 * ms, 20 * ms}, Repeat: 30 * ms, Bps: []float64{12e6, 0, 6e6},
		Delay: []time.Duration{10 * ms, 20500 * time.Microsecond, 5 * ms}, Loss: []float64{0, 0, 1},
	}, trace)
	var text bytes.Buffer
	_, err := trace.WriteTo(&text)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(exampleTrace, "# a comment\n", "", 1), text.String())
	require.Nil(t, readTrace(t, traceHeading+"\nat_ms,delay_ms\n0,1\n1,1\n").Bps, "what is not recorded has no values")
}

func TestAWayFollowsItsTraceAndBeginsAgain(t *testing.T) {
	d := Direction{Queue: Queue{LimitBytes: 1e6}, Delay: Delay{BaseMs: 100}, recorded: readTrace(t, exampleTrace)}
	fates := simulate(t, d.line(seeds{1, 0}), []arrival{{0, 1500}, {10 * ms, 1500}, {30 * ms, 1500}, {32 * ms, 1500}})
	require.Equal(t, []departure{
		// It stood still from 10 to 20 ms, took 2 ms at half the rate, and every packet of that time is lost.
		{1, 22 * ms, RandomLoss},
		{0, 111 * ms, NotLost},
		{2, 141 * ms, NotLost},
		{3, 143 * ms, NotLost},
	}, fates)
}

func TestARecordedDelayAddsToTheBase(t *testing.T) {
	d := Direction{Rate: Rate{ConstantBps: 1e11}, Queue: Queue{LimitBytes: 1e6}, Delay: Delay{BaseMs: 100}}
	d.recorded = readTrace(t, traceHeading+"\nat_ms,delay_ms\n0,1\n10,50\n")
	line := d.line(seeds{1, 0})
	var left []time.Duration
	for _, fate := range simulate(t, line, every(5*ms, 5, 125)) {
		left = append(left, fate.at.Truncate(ms))
	}
	require.Equal(t, []time.Duration{101 * ms, 106 * ms, 160 * ms, 165 * ms, 165 * ms}, left, "no packet overtakes another")
}

func TestAWrongTraceSaysWhichLineAndWhatMustBe(t *testing.T) {
	head := traceHeading + "\nat_ms,rate_bps\n"
	for text, says := range map[string]string{
		"":                                              "begins with the line",
		"at_ms,rate_bps\n0,1\n":                         "begins with the line",
		traceHeading + "\n":                             "at least two rows",
		traceHeading + "\nat_ms\n":                      "line 2: the first column is at_ms",
		traceHeading + "\nrate_bps,at_ms\n":             "line 2: the first column is at_ms",
		traceHeading + "\nat_ms,rate\n":                 "line 2: columns are",
		traceHeading + "\nat_ms,rate_bps,at_ms\n":       "line 2: columns are",
		head + "0,1000\n":                               "at least two rows",
		head + "1,1000\n":                               "line 3: at_ms must be 0 in the first row",
		head + "0,1000\n0.9,1000\n":                     "line 4: at_ms must be",
		head + "0,1000\n1e9,1000\n2e9,1000\n":           "line 5: at_ms must be",
		head + "0,999\n":                                "line 3: rate_bps must be 0, or from 1000",
		head + "0,1e12\n":                               "line 3: rate_bps must be",
		head + "0,fast\n":                               "line 3: rate_bps is a number",
		head + "0,NaN\n":                                "line 3: rate_bps must be",
		head + "0\n":                                    "line 3: 1 values for 2 columns",
		head + "0,0\n1,0\n":                             "carries nothing",
		traceHeading + "\nat_ms,delay_ms\n0,-1\n":       "line 3: delay_ms must be",
		traceHeading + "\nat_ms,delay_ms\n0,60001\n":    "line 3: delay_ms must be",
		traceHeading + "\nat_ms,loss_ratio\n0,1.01\n":   "line 3: loss_ratio must be",
		head + "0," + strings.Repeat("1", 2<<10) + "\n": "too long",
	} {
		_, err := ReadTrace(strings.NewReader(text))
		require.ErrorContains(t, err, says, "%.60q", text)
	}
}

func TestAProfileReadsItsTraceFromItsFolder(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "mine.yaml")
	load := func(profile string) (Profile, error) {
		require.NoError(t, os.WriteFile(path, []byte(profile), 0o600))
		return LoadProfile(path)
	}
	text := `
name: mine
orbit: LEO
down: {trace: day.csv, queue: {limit_bytes: 1000000}}
up: {rate: {constant_bps: 1000000}, queue: {limit_bytes: 1000000}}
facts: {nominal_rate_bps: 1000000, base_rtt_ms: 40}
`
	_, err := load(text)
	require.ErrorContains(t, err, "open the trace")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "day.csv"), []byte(exampleTrace), 0o600))
	profile, err := load(text)
	require.NoError(t, err)
	require.InDelta(t, 12e6, profile.PeakBps(), 0)
	_, err = load(strings.Replace(text, "day.csv,", "day.csv, rate: {constant_bps: 1000},", 1))
	require.ErrorContains(t, err, "the way's trace has the rate")
	_, err = load(strings.Replace(text, "day.csv", "../day.csv", 1))
	require.ErrorContains(t, err, "open the trace")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "day.csv"), []byte("x"), 0o600))
	_, err = load(text)
	require.ErrorContains(t, err, "trace day.csv: a link trace begins with")
}

func TestPacketOpportunitiesAndDelaysBecomeATrace(t *testing.T) {
	trace, err := Convert(strings.NewReader("0\n0\n9\n25\n25\n"), strings.NewReader("24\n18\n30\n31\n"))
	require.NoError(t, err)
	require.Equal(t, &Trace{
		At: []time.Duration{0, 10 * ms, 20 * ms, 30 * ms}, Repeat: 40 * ms, Bps: []float64{3 * 1.2e6, 0, 4 * 1.2e6, 1.2e6},
		Delay: []time.Duration{24 * ms, 18 * ms, 30 * ms, 31 * ms},
	}, trace)
	alone, err := Convert(nil, strings.NewReader("24\n18\n30\n31\n"))
	require.NoError(t, err)
	require.Nil(t, alone.Bps)
	require.Len(t, alone.Delay, 4)
	for text, says := range map[string]string{"": "empty", "1\n0\n": "line 2: 0 comes after 1", "x\n": "line 1: expected a whole number",
		"-1\n": "line 1", "86400001\n": "beyond a day", "0\n0\n": "constant_bps"} {
		_, err := Convert(strings.NewReader(text), nil)
		require.ErrorContains(t, err, says)
	}
	_, err = Convert(nil, strings.NewReader("60001\n"))
	require.ErrorContains(t, err, "line 1: a delay is at most 60000 ms")
}

// A file of packet opportunities repeats after its last one, whatever its length: its mean rate is its packets in that time.
func TestATraceOfPacketOpportunitiesKeepsItsPeriod(t *testing.T) {
	each := func(last, step int) string {
		lines := ""
		for at := step; at <= last; at += step {
			lines += strconv.Itoa(at) + "\n"
		}
		return lines
	}
	for name, c := range map[string]struct {
		file   string
		period time.Duration
		bps    float64
	}{
		"one a millisecond":        {"1\n", 20 * ms, 12e6},
		"two a millisecond":        {"1\n1\n", 20 * ms, 24e6},
		"four milliseconds, five":  {"1\n2\n3\n4\n4\n", 20 * ms, 15e6},
		"20 ms":                    {each(20, 1), 20 * ms, 12e6},
		"100 ms":                   {each(100, 1), 100 * ms, 12e6},
		"a second":                 {each(1000, 1), 1000 * ms, 12e6},
		"no multiple of 10 ms":     {each(1003, 1), 1003 * ms, 12e6},
		"one below a multiple":     {each(39, 3), 39 * ms, 4e6},
		"nothing for a while":      {"30\n", 30 * ms, 4e5},
		"all within a millisecond": {strings.Repeat("7\n", 35), 21 * ms, 60e6},
	} {
		t.Run(name, func(t *testing.T) {
			trace, err := Convert(strings.NewReader(c.file), nil)
			require.NoError(t, err)
			require.Equal(t, c.period, trace.Repeat)
			bits := 0.0
			for row, bps := range trace.Bps {
				until := trace.Repeat
				if row+1 < len(trace.At) {
					until = trace.At[row+1]
				}
				bits += bps * (until - trace.At[row]).Seconds()
			}
			require.InEpsilon(t, c.bps, bits/trace.Repeat.Seconds(), 1e-9)
		})
	}
}

// Beside delays the opportunities repeat after their own last one, wherever in a row that is, for as long as there are delays.
func TestOpportunitiesBesideDelaysKeepTheirRate(t *testing.T) {
	delays := strings.Repeat("20\n", 100)
	for _, last := range []int{1, 7, 15, 23, 25, 999, 1000, 1500} {
		lines := ""
		for at := 1; at <= last; at++ {
			lines += strconv.Itoa(at) + "\n"
		}
		trace, err := Convert(strings.NewReader(lines), strings.NewReader(delays))
		require.NoError(t, err)
		require.Equal(t, time.Second, trace.Repeat)
		require.Len(t, trace.Delay, 100)
		require.Equal(t, []float64{12e6, 12e6}, []float64{slices.Min(trace.Bps), slices.Max(trace.Bps)}, last)
	}
}

func TestADayOfDelaysBesideManyPacketsOfAMillisecondIsConvertedAtOnce(t *testing.T) {
	trace, err := Convert(strings.NewReader(strings.Repeat("1\n", 100_000)), strings.NewReader(strings.Repeat("20\n", 1_000_000)))
	require.NoError(t, err)
	require.InDelta(t, 100_000*12e6, trace.Bps[999_999], 1)
}

func newTestWander() *wander {
	return newWander(Varies{StepMs: 100, CorrelationS: 2, SdRatio: 0.2, LowRatio: 0.2, HighRatio: 2}, newCourse(testRng()))
}

func TestARateThatVariesRemembersWhereItWas(t *testing.T) {
	const n = 60_000
	w := newTestWander()
	values := make([]float64, n)
	mean, variance, product := 0.0, 0.0, 0.0
	for i := range values {
		values[i], _ = w.at(time.Duration(i) * 100 * ms)
		mean += values[i] / n
	}
	for i := range n - 20 {
		variance += (values[i] - mean) * (values[i] - mean) / n
		product += (values[i] - mean) * (values[i+20] - mean) / n
	}
	require.InDelta(t, 1, mean, 0.015)
	require.InDelta(t, 0.2, math.Sqrt(variance), 0.01)
	require.InDelta(t, math.Exp(-1), product/variance, 0.05, "2 s later")
}

func TestWhatARateWandersToDependsOnTheMomentAlone(t *testing.T) {
	every := newTestWander()
	for step := range 3 * wanderBlock {
		at := time.Duration(step) * 100 * ms
		value, until := every.at(at)
		require.Equal(t, at+100*ms, until)
		if step%1000 == 7 || step%wanderBlock == 0 {
			late, _ := newTestWander().at(at + 99*ms)
			require.InDelta(t, value, late, 0, "step %d", step)
		}
	}
}

func TestARateVariesWithinItsBounds(t *testing.T) {
	v := Varies{StepMs: 10, CorrelationS: 0.1, SdRatio: 1, LowRatio: 0.5, HighRatio: 1.5}
	profile := sound()
	profile.Down.Rate = Rate{ConstantBps: 1e6, Varies: &v}
	require.NoError(t, profile.validate())
	require.InDelta(t, 1.5e6, profile.PeakBps(), 0)
	r := profile.Down.capacity(&seeds{1, 0})
	low, high := math.Inf(1), 0.0
	for i := range 10_000 {
		bps, until := r.at(time.Duration(i) * 10 * ms)
		require.Equal(t, time.Duration(i+1)*10*ms, until)
		low, high = min(low, bps), max(high, bps)
	}
	require.InDelta(t, 0.5e6, low, 0)
	require.InDelta(t, 1.5e6, high, 0)
}

// TestAMillisecondBeyondEveryDayIsRefused: so many of them are no time any more.
func TestAMillisecondBeyondEveryDayIsRefused(t *testing.T) {
	for _, ms := range []string{"86400001", "9223372036855", "9223372036854775807"} {
		_, err := Convert(strings.NewReader(ms+"\n"), nil)
		require.ErrorContains(t, err, "beyond a day", ms)
	}
}
