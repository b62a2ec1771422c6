package main

import (
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/agent/pause"
)

// enrolled is the state folder of an agent.
func enrolled(t *testing.T) string {
	t.Helper()
	c := config.Default()
	c.Server, c.Name, c.StateDir, c.DataHost = "https://downlink.example.org", "dish", t.TempDir(), "198.51.100.1"
	_, err := c.Save()
	require.NoError(t, err)
	return c.StateDir
}

func TestAnOwnerPausesAndResumes(t *testing.T) {
	here := place{StateDir: enrolled(t)}
	c, err := here.load()
	require.NoError(t, err)

	require.NoError(t, pauseCmd{place: here, For: new(3 * time.Hour), Why: "maintenance"}.Run())
	set := pause.Read(c.StateDir, time.Now())
	require.WithinDuration(t, time.Now().Add(3*time.Hour), set.Until, time.Minute)
	require.Equal(t, "maintenance", set.Why)
	require.False(t, checkRest(c, time.Now()).isGood)

	require.NoError(t, resumeCmd{here}.Run())
	require.Nil(t, pause.Read(c.StateDir, time.Now()))
	require.True(t, checkRest(c, time.Now()).isGood)
	require.NoError(t, resumeCmd{here}.Run(), "a second time changes nothing")
	require.ErrorContains(t, pauseCmd{place: place{StateDir: t.TempDir()}}.Run(), "enrol this agent first")
}

func TestAPauseOfNoTimeOrOfTooMuchIsRefused(t *testing.T) {
	here := place{StateDir: enrolled(t)}
	for _, wrong := range []time.Duration{0, -time.Hour, time.Second - 1, longestPause + 1} {
		err := pauseCmd{place: here, For: &wrong}.Run()
		require.ErrorContains(t, err, "such as 3h or 90m", wrong)
		require.ErrorContains(t, err, "until `downlink-agent resume`", wrong)
		require.Nil(t, pause.Read(here.StateDir, time.Now()), "%s pauses nothing", wrong)
	}
	for _, right := range []time.Duration{time.Minute, longestPause} {
		require.NoError(t, pauseCmd{place: here, For: &right}.Run())
		require.WithinDuration(t, time.Now().Add(right), pause.Read(here.StateDir, time.Now()).Until, 30*time.Second)
	}
}

func TestAReasonForAPauseIsShort(t *testing.T) {
	here := place{StateDir: enrolled(t)}
	err := pauseCmd{place: here, Why: strings.Repeat("x", 201)}.Run()
	require.EqualError(t, err, "--why has 201 characters; write at most 200")
	require.Nil(t, pause.Read(here.StateDir, time.Now()))
	require.NoError(t, pauseCmd{place: here, Why: strings.Repeat("☃", 199) + "\x1b"}.Run())
	require.Equal(t, strings.Repeat("☃", 199)+"\ufffd", pause.Read(here.StateDir, time.Now()).Why)
}

func TestAPauseWithoutATimeHasNoEnd(t *testing.T) {
	here := place{StateDir: enrolled(t)}
	var commands cli
	parser, err := kong.New(&commands, options()...)
	require.NoError(t, err)
	for words, end := range map[string]bool{"pause": false, "pause 90m": true} {
		commands = cli{}
		parsed, err := parser.Parse(append(strings.Fields(words), "--state-dir", here.StateDir))
		require.NoError(t, err)
		require.NoError(t, parsed.Run())
		require.Equal(t, end, !pause.Read(here.StateDir, time.Now()).Until.IsZero(), words)
	}
}
