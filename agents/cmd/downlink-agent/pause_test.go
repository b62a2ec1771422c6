package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/config"
	"downlink/agents/internal/pause"
)

func TestAnOwnerPausesAndResumes(t *testing.T) {
	c := config.Default()
	c.Server, c.Name, c.StateDir, c.DataHost = "https://downlink.example.org", "dish", t.TempDir(), "198.51.100.1"
	_, err := c.Save()
	require.NoError(t, err)
	here := place{StateDir: c.StateDir}

	require.NoError(t, pauseCmd{place: here, For: 3 * time.Hour, Why: "maintenance"}.Run())
	set := pause.Read(c.StateDir, time.Now())
	require.WithinDuration(t, time.Now().Add(3*time.Hour), set.Until, time.Minute)
	require.Equal(t, "maintenance", set.Why)
	require.False(t, checkRest(c, time.Now()).isGood)

	require.NoError(t, resumeCmd{here}.Run())
	require.Nil(t, pause.Read(c.StateDir, time.Now()))
	require.True(t, checkRest(c, time.Now()).isGood)
	require.NoError(t, resumeCmd{here}.Run(), "a second time changes nothing")
	require.ErrorContains(t, pauseCmd{place: here, For: -time.Hour}.Run(), "in the past")
	require.ErrorContains(t, pauseCmd{place: place{StateDir: t.TempDir()}}.Run(), "enrol this agent first")
}
