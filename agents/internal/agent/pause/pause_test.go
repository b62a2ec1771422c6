package pause

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) // a Monday

func TestAPauseHoldsUntilItsMoment(t *testing.T) {
	dir := t.TempDir()
	require.Nil(t, Read(dir, noon))
	require.NoError(t, Set(dir, Pause{Until: noon.Add(3 * time.Hour), Why: "dish is moved"}))
	require.Equal(t, "paused by its owner until 2026-03-02 15:00 UTC (dish is moved)", Read(dir, noon).Sentence())
	require.NotNil(t, Read(dir, noon.Add(3*time.Hour-time.Nanosecond)))
	require.Nil(t, Read(dir, noon.Add(3*time.Hour)))
}

func TestAPauseWithoutAnEndLastsUntilTheOwnerResumes(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Set(dir, Pause{EndsRun: true}))
	require.Equal(t, &Pause{EndsRun: true}, Read(dir, noon.AddDate(10, 0, 0)))
	require.Equal(t, "paused by its owner; `downlink-agent resume` ends it", Read(dir, noon).Sentence())
	was, err := Clear(dir)
	require.NoError(t, err)
	require.True(t, was)
	require.Nil(t, Read(dir, noon))
	was, err = Clear(dir)
	require.NoError(t, err)
	require.False(t, was)
}

func TestAFileThatCannotBeReadIsAPause(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, fileName), []byte(`{"until": "soon"}`), 0o600))
	require.Contains(t, Read(dir, noon).Sentence(), "pause.json cannot be read")
}

func TestHours(t *testing.T) {
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 3, day, hour, minute, 59, 0, time.UTC) }
	for _, c := range []struct {
		text string
		t    time.Time
		is   bool
	}{
		{"weekdays 09:00-17:00", at(2, 8, 59), false},
		{"weekdays 09:00-17:00", at(2, 9, 0), true},
		{"weekdays 09:00-17:00", at(2, 16, 59), true},
		{"weekdays 09:00-17:00", at(2, 17, 0), false},
		{"weekdays 09:00-17:00", at(7, 12, 0), false}, // a Saturday
		{"Daily  22:00-06:00", at(2, 23, 0), true},
		{"daily 22:00-06:00", at(2, 5, 59), true},
		{"daily 22:00-06:00", at(2, 6, 0), false},
		{"fri 22:00-06:00", at(7, 5, 0), true},  // begun on Friday
		{"fri 22:00-06:00", at(6, 5, 0), false}, // Thursday's night
		{"sun 22:00-06:00", at(2, 5, 0), true},
		{"sat,sun 00:00-24:00", at(8, 23, 59), true},
		{"weekends 00:00-24:00", at(9, 0, 0), false},
	} {
		hours, err := ParseHours(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.is, hours.Contains(c.t), "%s at %s", c.text, c.t)
	}
}

func TestHoursAreLookedForInTheWholeOfARun(t *testing.T) {
	hours, err := ParseHours("daily 12:05-12:06")
	require.NoError(t, err)
	require.False(t, hours.ContainsAny(noon, 299*time.Second))
	require.True(t, hours.ContainsAny(noon, 300*time.Second))
	require.True(t, hours.ContainsAny(noon, time.Hour))
	require.False(t, hours.ContainsAny(noon.Add(6*time.Minute), time.Hour))
}

func TestHoursEnd(t *testing.T) {
	hours, err := ParseHours("weekdays 18:00-06:00")
	require.NoError(t, err)
	monday := time.Date(2026, 3, 3, 6, 0, 0, 0, time.UTC) // of the night that began on Monday
	require.Equal(t, monday, hours.EndAfter(noon))
	require.Equal(t, monday, hours.EndAfter(monday.Add(-time.Second)))
	require.Equal(t, monday.AddDate(0, 0, 1), hours.EndAfter(monday))
	saturday := time.Date(2026, 3, 7, 6, 0, 0, 0, time.UTC)
	require.Equal(t, saturday.AddDate(0, 0, 3), hours.EndAfter(saturday), "the next ones begin on Monday")
	always, err := ParseHours("daily 00:00-24:00")
	require.NoError(t, err)
	require.WithinDuration(t, noon.AddDate(0, 0, 14), always.EndAfter(noon), time.Minute, "bounded")
}

func TestWrongHoursSayWhy(t *testing.T) {
	for text, why := range map[string]string{
		"18:00-23:00":          "must be days and hours",
		"someday 18:00-23:00":  `"someday" is no day`,
		"mon,,tue 18:00-23:00": `"" is no day`,
		"daily 24:00-06:00":    "no clock shows",
		"daily 18:60-19:00":    "no clock shows",
		"daily 08:00-08:00":    "at the same time",
	} {
		_, err := ParseHours(text)
		require.ErrorContains(t, err, why, text)
	}
}

func TestHoursAreReadFromAndWrittenToYAML(t *testing.T) {
	var found []Hours
	require.NoError(t, yaml.Unmarshal([]byte(`["weekdays  18:00-23:00"]`), &found))
	written, err := yaml.Marshal(found)
	require.NoError(t, err)
	require.Equal(t, "- weekdays 18:00-23:00\n", string(written))
	require.ErrorContains(t, yaml.Unmarshal([]byte(`["nights"]`), &found), "must be days and hours")
}
