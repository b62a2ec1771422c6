package emulate

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ping sends probes over the idle link and returns their RTTs in ms, lost ones left out.
func ping(profile Profile, n int, spacing time.Duration) (rttMs []float64, lostRatio float64) {
	for _, rtt := range IdleRtts(profile, profile.Seed, n, spacing, 84) {
		rttMs = append(rttMs, float64(rtt)/float64(time.Millisecond))
	}
	return rttMs, 1 - float64(len(rttMs))/float64(n)
}

func moments(values []float64) (mean, sd float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		sd += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(sd)
}

// Probes in step with the frames would all wait equally long: hence a spacing that is no multiple of a frame.
func TestGeoIdleRttIsThePublishedOne(t *testing.T) {
	for _, name := range []string{"geo-viasat", "geo-viasat-unframed"} {
		requirePublishedIdleRtt(t, mustLoad(t, name))
	}
}

func requirePublishedIdleRtt(t *testing.T, profile Profile) {
	t.Helper()
	rtt, _ := ping(profile, 200_000, 203700*time.Microsecond)
	slices.Sort(rtt)
	at := func(ratio float64) float64 { return rtt[int(ratio*float64(len(rtt)))] }
	mean, sd := moments(rtt)
	require.InDelta(t, 597, at(0.5), 0.7)
	require.InDelta(t, 597.5, mean, 0.5)
	require.InDelta(t, 16.9, sd, 0.3)
	require.InDelta(t, 560, at(0.005), 1)
	require.InDelta(t, 625, at(0.995), 1)
}

func TestGeoIdleLossIsThePublishedOne(t *testing.T) {
	profile := mustLoad(t, "geo-viasat")
	_, lost := ping(profile, 2_000_000, time.Second)
	require.InDelta(t, 0.0005, lost, 0.0001)
}

func TestLeoRttStartsAtFortyMilliseconds(t *testing.T) {
	profile := mustLoad(t, "leo-starlink")
	rtt, lost := ping(profile, 200_000, 20*time.Millisecond)
	require.InDelta(t, 0.005, lost, 0.002, "there and back")
	slices.Sort(rtt)
	require.InDelta(t, 40, rtt[0], 1)
	require.Less(t, rtt[len(rtt)/2], 60.0)
}

func TestEveryProfileReachesItsNominalRateUnderLoad(t *testing.T) {
	for _, name := range ProfileNames() {
		profile := mustLoad(t, name)
		const seconds = 60
		spacing := time.Duration(1500 * 8 / profile.Facts.NominalRateBps * float64(time.Second))
		line := down(profile, 1)
		fates := delivered(simulate(t, line, every(spacing, int(seconds*time.Second/spacing), 1500)))
		peak := peakBps(fates)
		require.LessOrEqual(t, peak, 1.001*profile.Facts.NominalRateBps, name)
		require.Greater(t, peak, 0.9*profile.Facts.NominalRateBps, name)
	}
}

// peakBps is the rate of the best second.
func peakBps(fates []departure) float64 {
	bins := map[time.Duration]float64{}
	best := 0.0
	for _, d := range fates {
		bins[d.at/time.Second] += 1500 * 8
		best = max(best, bins[d.at/time.Second])
	}
	return best
}

func TestOwnProfileByPath(t *testing.T) {
	text, err := embedded.ReadFile("profiles/terrestrial.yaml")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	profile := mustLoad(t, path)
	require.Equal(t, mustLoad(t, "terrestrial"), profile)
	t.Chdir(filepath.Dir(path))
	require.Equal(t, profile, mustLoad(t, "mine.yaml"), "the ending is enough")
	require.NoError(t, os.Rename("mine.yaml", "mine"))
	require.Equal(t, profile, mustLoad(t, "./mine"), "and so is a slash")
}

func TestProfileErrorsLocate(t *testing.T) {
	good, err := embedded.ReadFile("profiles/geo-viasat-unframed.yaml")
	require.NoError(t, err)
	for _, c := range []struct{ from, to, says string }{
		{"base_ms: 276", "bass_ms: 276", "field bass_ms not found"},
		{"constant_bps: 144000000", "constant_bps: fast", "line 11"},
		{"constant_bps: 144000000", "constant_bps: -1", "down.rate.constant_bps must be"},
		{"{constant_bps: 144000000}", "{}", "down.rate needs exactly one of"},
		{"ratio: 0.25}", "ratio: 25}", "down.queue.random_drop.ratio must be"},
		{"orbit: GEO", "orbit: HEO", "orbit must be one of"},
		{"mean_length_ms: ", "mean_length_ms: -", "down.loss.outages.mean_length_ms must be"},
		{"ratio: 0.9,", "ratio: 0.1,", "up.delay.variations[0].quantiles[6].ratio must be above the point before"},
		{"name: geo-viasat-unframed", "name: Geo Viasat", "name must be"},
		{"nominal_rate_bps: 144000000", "", "facts.nominal_rate_bps must be above 0"},
	} {
		require.Contains(t, string(good), c.from)
		_, err := parseProfile("test.yaml", []byte(strings.Replace(string(good), c.from, c.to, 1)), nil)
		require.ErrorContains(t, err, c.says)
		require.ErrorContains(t, err, "test.yaml")
	}
}

func TestUnknownProfileNamesTheKnown(t *testing.T) {
	_, err := LoadProfile("mars")
	require.ErrorContains(t, err, "geo-viasat, geo-viasat-pep")
}

func TestManyWrongKeysAreToldAtOnce(t *testing.T) {
	_, err := parseProfile("test.yaml", []byte("name: x\n"), nil)
	for _, key := range []string{"orbit", "down.rate", "down.queue.limit_bytes", "up.rate", "facts.base_rtt_ms"} {
		require.ErrorContains(t, err, key)
	}
}

func TestAProfileIsTheOneThatItExtendsButForItsOwnKeys(t *testing.T) {
	folder := "../../../../docs/examples/studies/profiles/"
	for name, change := range map[string]func(*Profile){
		"geo-viasat-pep": func(p *Profile) {
			p.Pep = (&Pep{Satellite: Segment{Cc: "bbr"}, Terrestrial: Segment{Cc: "cubic"}}).withDefaults()
		},
		"geo-viasat-small-queue":                 func(p *Profile) { p.Down.Queue = Queue{9_000_000, &RandomDrop{4_500_000, 0.25}} },
		folder + "geo-viasat-no-aqm.yaml":        func(p *Profile) { p.Down.Queue.RandomDrop = nil },
		folder + "geo-viasat-short-outages.yaml": func(p *Profile) { p.Down.Loss.Outages = &Outages{3.5, 7} },
		folder + "geo-viasat-thinned.yaml":       func(p *Profile) { p.Up.Frames.ThinsAcks = true },
	} {
		profile, expected := mustLoad(t, name), mustLoad(t, "geo-viasat")
		change(&expected)
		expected.Extends, expected.Name, expected.Description, expected.Facts = "geo-viasat", profile.Name, profile.Description, profile.Facts
		require.Equal(t, expected, profile)
		require.NotEqual(t, mustLoad(t, "geo-viasat").Facts, profile.Facts, "figures of its own")
	}
}

func TestAnExtendingProfileReplacesListsRemovesPartsAndHasANameOfItsOwn(t *testing.T) {
	own := "extends: geo-viasat\nname: own\nfacts: {nominal_rate_bps: 1, base_rtt_ms: 1}\n"
	profile, err := parseProfile("own.yaml", []byte(own+"down: {delay: {variations: []}}\nup: {frames: null}\n"), nil)
	require.NoError(t, err)
	require.Empty(t, profile.Down.Delay.Variations)
	require.InDelta(t, 279.6, profile.Down.Delay.BaseMs, 0)
	require.Nil(t, profile.Up.Frames)
	for text, says := range map[string]string{
		"extends: geo-viasat\n":           "name must be",
		"extends: mars\n":                 `extends must be one of geo-generic, geo-viasat, `,
		own + "down: {speed: 3}\n":        "line 4: field speed not found",
		own + "down: {rate: {steps: {}}}": "down.rate needs exactly one of",
	} {
		_, err = parseProfile("own.yaml", []byte(text), nil)
		require.ErrorContains(t, err, says)
	}
}

func TestEveryKeyIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/link-profiles.md")
	require.NoError(t, err)
	for _, key := range keysOf(reflect.TypeFor[Profile]()) {
		require.Regexp(t, "[`.]"+key+"[`.]", string(page), "key %s", key)
	}
}

// keysOf lists the YAML keys of a struct and of what it holds.
func keysOf(kind reflect.Type) (keys []string) {
	for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice {
		kind = kind.Elem()
	}
	if kind.Kind() != reflect.Struct {
		return nil
	}
	for field := range kind.Fields() {
		keys = append(append(keys, field.Tag.Get("yaml")), keysOf(field.Type)...)
	}
	return keys
}

func TestAProxysKeysAreCheckedAndFilledIn(t *testing.T) {
	load := func(pep string) (Profile, error) {
		text, err := os.ReadFile("profiles/terrestrial.yaml")
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "proxied.yaml")
		require.NoError(t, os.WriteFile(path, []byte(string(text)+"\n"+pep), 0o600))
		return LoadProfile(path)
	}
	profile, err := load("pep: {satellite: {cc: bbr, initial_window_segments: 64}, terrestrial: {cc: cubic}}")
	require.NoError(t, err)
	require.Equal(t, &Pep{Segment{"bbr", 64}, Segment{"cubic", 0}, 64, 32_000_000, 60}, profile.Pep)
	require.Equal(t, time.Minute, profile.Pep.DeadAfter())
	_, err = load("pep: {satellite: {cc: bbr, initial_window_segments: 65536}, most_connections: 1025, buffer_bytes: 65535, dead_after_s: " +
		"0.9}")
	for _, words := range []string{
		"pep.terrestrial.cc must be the name of a congestion control", "pep.satellite.initial_window_segments must be from 1 to 65535, not 65536",
		"pep.most_connections must be from 1 to 1024, not 1025", "pep.buffer_bytes must be from 65536 to 256000000, not 65535",
		"pep.dead_after_s must be from 1 to 3600, not 0.9",
	} {
		require.ErrorContains(t, err, words)
	}
	profile, err = LoadProfile("terrestrial")
	require.NoError(t, err)
	require.Nil(t, profile.Pep)
}
