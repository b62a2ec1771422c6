package emulate

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/pathtrace/pathtest"
)

func TestCyclesFlyWindowsAtEvenDistances(t *testing.T) {
	profile := over(t, pathtest.Chain(3, 2*ms, 5*ms, 1e6, 0, 1, 100*time.Second))
	at := func(number, of int, lasts time.Duration, seed uint64) time.Duration {
		phase, stretch, err := Begin(profile, seed, &Window{number, of, lasts})
		require.NoError(t, err)
		require.Equal(t, phase, stretch.At)
		require.Equal(t, "east-west", stretch.Path)
		return phase
	}
	require.Equal(t, 0*time.Second, at(0, 4, 20*time.Second, 1))
	require.Equal(t, 20*time.Second, at(1, 4, 20*time.Second, 1))
	require.Equal(t, at(3, 4, 20*time.Second, 1), at(3, 4, 20*time.Second, 2), "whatever the seed")
	require.LessOrEqual(t, at(3, 4, 20*time.Second, 1), 80*time.Second)
	require.Zero(t, at(0, 1, 100*time.Second, 1))
	_, _, err := Begin(profile, 1, &Window{0, 1, 101 * time.Second})
	require.ErrorIs(t, err, ErrTooShort)
	require.ErrorContains(t, err, "Make a longer path, or a shorter run")
	_, _, err = Begin(profile, 1, &Window{4, 4, time.Second})
	require.ErrorContains(t, err, "window 4 of 4 is none")
	_, stretch, err := Begin(sound(), 1, &Window{0, 1, time.Hour})
	require.NoError(t, err)
	require.Nil(t, stretch, "a link without a path has no use for windows")
}

func TestProfilesOfPathsAreReadFromFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, text []byte) string {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o600))
		return filepath.Join(folder, name)
	}
	trace := write("x.dlpath", pathtest.Encode(pathtest.Header(), []pathtest.Lasting{pathtest.Chain(3, 2*ms, 5*ms, 1e6, 0, 1, time.Minute)}))
	const hop = "{down: {rate: {constant_bps: 2000000}, queue: {limit_bytes: 9000}, delay: {base_ms: 10}}, up: {rate: {constant_bps: " +
		"2000000}, queue: {limit_bytes: 9000}, delay: {base_ms: 10}}}"
	t.Setenv("XDG_CACHE_HOME", folder)
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "downlink", "paths"), 0o700))
	require.NoError(t, os.Link(trace, filepath.Join(folder, "downlink", "paths", "kept.dlpath")))
	alone, err := LoadProfile(trace)
	require.NoError(t, err)
	require.InDelta(t, 18, alone.Facts.BaseRttMs, 1e-9)
	for _, c := range []struct {
		text, says string
		hops       int
	}{
		{"path: x.dlpath", "", 3},
		{"path: {file: x.dlpath, from: west, to: east, queue: {limit_bytes: 30000}}", "", 3},
		{"hops: [" + hop + ", {path: x.dlpath}, " + hop + "]", "", 5},
		{"path: kept", "", 3},
		{"path: {file: kept, loss_ratio: 0.001}", "", 3},
		{"path: other", "`downlink paths make other` makes it", 0},
		{"path: {file: kept, loss_ratio: 2}", "path.loss_ratio must be from 0 to 1", 0},
		{"path: {file: x.dlpath, from: paris}", "joins east and west, and not the profile's stations paris", 0},
		{"path: {file: x.dlpath, gap: 1}", "field gap not found", 0},
		{"path: y.dlpath", "open the path trace y.dlpath, a file in the profile's folder or below, or an absolute path; " +
			"`downlink paths make NAME --to FILE`", 0},
		{"path: {file: x.dlpath, queue: {limit_bytes: 100}}", "path.queue.limit_bytes must be at least 1500", 0},
		{"hops: [{path: x.dlpath}, {path: x.dlpath}]", "one path at most", 0},
		{"path: x.dlpath\ndown: {rate: {constant_bps: 5000}}", "either down and up, or hops, or path", 0},
		{"hops: [{down: {rate: {constant_bps: 1}, queue: {limit_bytes: 9000}}, up: {}}]", "hops[0].down.rate.constant_bps", 0},
	} {
		profile, err := LoadProfile(write("p.yaml", []byte("name: p\norbit: LEO\n"+c.text+"\n")))
		if c.says != "" {
			require.ErrorContains(t, err, c.says, c.text)
			continue
		}
		require.NoError(t, err, c.text)
		require.Equal(t, c.hops, profile.MostHops())
	}
}

func TestAProfileMaySetTheLossOfEachHopOfItsPath(t *testing.T) {
	folder := t.TempDir()
	trace := pathtest.Encode(pathtest.Header(), []pathtest.Lasting{pathtest.Chain(3, 2*ms, 5*ms, 1e6, 0, 1, time.Minute)})
	require.NoError(t, os.WriteFile(filepath.Join(folder, "x.dlpath"), trace, 0o600))
	for ratio, passed := range map[string]float64{"0": 1, "0.5": 0.125} {
		file := filepath.Join(folder, "p.yaml")
		require.NoError(t, os.WriteFile(file, []byte("name: p\norbit: LEO\npath: {file: x.dlpath, loss_ratio: "+ratio+"}\n"), 0o600))
		profile, err := LoadProfile(file)
		require.NoError(t, err)
		var arrivals []arrival
		for i := range 4000 {
			arrivals = append(arrivals, arrival{time.Duration(i) * 10 * ms, 100})
		}
		through := 0
		for _, fate := range simulate(t, New(profile, 7)[0].Line, arrivals) {
			if fate.lost == NotLost {
				through++
			}
		}
		require.InDelta(t, passed, float64(through)/4000, 0.02, ratio)
	}
}
