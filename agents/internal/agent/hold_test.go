package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
)

// events are those that the collector was sent, as they came.
func (c *collector) heard(t testing.TB, kind string) (events []protocol.Uploaded) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, body := range c.events {
		var event protocol.Uploaded
		require.NoError(t, json.Unmarshal(body, &event))
		if string(event.Kind) == kind {
			events = append(events, event)
		}
	}
	return events
}

func TestWhatTheOwnersLimitsDropIsNamedBeforeItIsDeleted(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	c.order = nil
	state := holding(t, c.URL, 4)
	s, err := spool.Open(filepath.Join(state.StateDir, "spool"), 0)
	require.NoError(t, err)
	require.NoError(t, s.Quarantine(spool.Key{RunID: runID, Attempt: 1, Flow: 1, Point: "sender", Sequence: 2}))
	for _, sequence := range []int{0, 1, 3} {
		old := time.Now().Add(-48 * time.Hour)
		require.NoError(t, os.Chtimes(chunkPath(state, sequence), old, old))
	}
	old := time.Now().Add(-36 * time.Hour)
	require.NoError(t, os.Chtimes(chunkPath(state, 2)+".bad", old, old))
	state.Policy.HoldDays = 2
	stop := serving(t, state)
	c.await(t, "a poll that names the chunks", func() bool { return len(c.polls) > 0 && len(c.polls[0].Spool) == 1 })
	stop()
	require.FileExists(t, chunkPath(state, 0), "the newest of it is not two days old")

	state.Policy.HoldDays = 1
	stop = serving(t, state)
	c.await(t, "the event", func() bool { return c.uploaded })
	stop()
	require.NoDirExists(t, filepath.Dir(chunkPath(state, 0)))
	require.Equal(t, []protocol.Missing{
		{Flow: 1, Point: "sender", First: 0, Last: 1, Why: protocol.WhyTooOld},
		{Flow: 1, Point: "sender", First: 3, Last: 3, Why: protocol.WhyTooOld},
		{Flow: 1, Point: "sender", First: 2, Last: 2, Why: protocol.WhyRefused},
	}, c.heard(t, "uploaded")[0].Missing)
}

func TestAnUploadNamesWhatItCannotDeliver(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	state := holding(t, c.URL, 4)
	content, err := os.ReadFile(chunkPath(state, 1))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(chunkPath(state, 1), content[:5], 0o600))
	serving(t, state, func(*agent.Agent) { require.NoError(t, os.Remove(chunkPath(state, 3))) })
	c.await(t, "the end", func() bool { return c.uploaded })
	require.Equal(t, []protocol.Missing{
		{Flow: 1, Point: "sender", First: 3, Last: 3, Why: protocol.WhyGone},
		{Flow: 1, Point: "sender", First: 1, Last: 1, Why: protocol.WhyDamaged},
	}, c.heard(t, "uploaded")[0].Missing)
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Len(t, c.stored, 2)
}
