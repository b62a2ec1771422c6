package agent_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/agent/pause"
	"downlink/agents/internal/agent/volume"
	"downlink/agents/internal/flow/controls"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/outside/observe"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
)

// stateOf4ed48422 copies a state folder that an agent of commit 4ed48422 left when it was killed: the sender's in the middle of a
// run, the receiver's with the run recorded and not yet reported. Only the paths in agent.yaml are others.
func stateOf4ed48422(t *testing.T, role, server string) config.Config {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "state-4ed48422", role))))
	require.NoError(t, os.Chmod(config.IdentityPath(dir), 0o600))
	c, err := config.Load(filepath.Join(dir, config.FileName))
	require.NoError(t, err)
	require.Equal(t, []string{role}, c.Roles)
	require.Equal(t, [3]any{role, "https://downlink.example", "/var/lib/downlink-agent"}, [3]any{c.Name, c.Server, c.StateDir})
	require.Equal(t, [2]any{int64(1e13), 3}, [2]any{c.Policy.MonthlyBytes, c.Policy.ResetDay})
	c.Server, c.StateDir, c.LockDir = server, dir, t.TempDir()
	return c
}

// resume starts an agent of today on the folder, with the identity in it.
func resume(t *testing.T, c config.Config) {
	t.Helper()
	identity, err := config.LoadIdentity(c.StateDir)
	require.NoError(t, err)
	require.Equal(t, config.Identity{AgentID: c.Name, Secret: c.Name}, identity)
	a, err := agent.New(c, agent.Parts{
		Version: "test", Log: slog.New(slog.DiscardHandler), Identity: identity, Host: &settings.FakeHost{}, Controls: controls.Kernel{},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
}

// lettersIn reads the events that wait in a folder, in order.
func lettersIn(t *testing.T, c config.Config) (bodies []map[string]any) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(c.StateDir, "events", "*.json"))
	require.NoError(t, err)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		var letter struct {
			Body map[string]any `json:"body"`
		}
		require.NoError(t, json.Unmarshal(content, &letter))
		bodies = append(bodies, letter.Body)
	}
	return bodies
}

func TestAFolderOf4ed48422DeliversItsEventsAndChunks(t *testing.T) {
	backend := newFakeBackend(t)
	backend.run = makeRun(1, protocol.Stop{Seconds: new(30.0)}, 40, "cubic")
	backend.run.held = true
	for agent, kinds := range map[string][]string{"receiver": {"ready"}, "sender": {"ready", "restored"}} {
		for _, kind := range kinds {
			backend.events[agent] = append(backend.events[agent], map[string]any{"kind": kind, "run_id": runID, "attempt": 1.0})
		}
	}
	c := stateOf4ed48422(t, "receiver", backend.URL)
	letters := lettersIn(t, c)
	require.Len(t, letters, 2)
	held, err := spool.Look(filepath.Join(c.StateDir, "spool"))
	require.NoError(t, err)
	require.Equal(t, []spool.Held{{RunID: runID, Attempt: 1, Chunks: 1, Bytes: 1953}}, held.Held())
	chunk, err := held.Get(held.Keys(runID, 1)[0])
	require.NoError(t, err)
	wasPaused, err := pause.Clear(c.StateDir)
	require.NoError(t, err)
	require.True(t, wasPaused)

	resume(t, c)
	backend.await(t, "the upload", patience, func() bool { return backend.has("receiver", backend.run.ref, "uploaded") })
	for i, kind := range []string{"finished", "restored"} {
		said := backend.said("receiver", kind)
		require.Equal(t, kind, letters[i]["kind"])
		for name, value := range letters[i] {
			require.Equal(t, value, said[name], name)
		}
	}
	require.Equal(t, map[string][]byte{"1/receiver/0": chunk}, backend.chunks)
	require.Len(t, backend.trace(t, 1, "receiver", "elapsed_us"), 441)
	require.Eventually(t, func() bool { return len(lettersIn(t, c)) == 0 }, patience, 10*time.Millisecond)
}

func TestAFolderOf4ed48422SaysThatItsRunWasBrokenOff(t *testing.T) {
	backend := newFakeBackend(t)
	backend.run = &fakeRun{ref: protocol.RunRef{RunID: runID, Attempt: 1}}
	c := stateOf4ed48422(t, "sender", backend.URL)
	resume(t, c)
	backend.await(t, "the report", patience, func() bool { return backend.has("sender", backend.run.ref, "failed") })
	require.Equal(t, "agent_restarted", backend.said("sender", "failed")["reason"])
}

func TestAJournalOf4ed48422RestoresItsHost(t *testing.T) {
	c := stateOf4ed48422(t, "sender", "https://downlink.example")
	metrics, wmem := settings.Key{Name: "net.ipv4.tcp_no_metrics_save"}, settings.Key{Name: "net.ipv4.tcp_wmem"}
	host := &settings.FakeHost{Values: map[settings.Key]string{metrics: "1", wmem: "4096 16384 8388608"}}
	keeper := settings.NewKeeper(host, settings.Place{
		StateDir: c.StateDir, LockDir: c.LockDir, BootID: "ebdd6287-f0c1-4ee2-8016-f4bdcc3e9e53", Namespace: "net:[4026532177]",
	})
	require.True(t, keeper.Pending())
	outcome, err := keeper.Restore()
	require.NoError(t, err)
	require.Equal(t, settings.Outcome{IsRestored: true}, outcome)
	require.Equal(t, map[settings.Key]string{metrics: "0", wmem: "4096 16384 4194304"}, host.Values)
	require.False(t, keeper.Pending())
}

func TestPauseVolumeAndObservationsOf4ed48422Hold(t *testing.T) {
	c := stateOf4ed48422(t, "receiver", "https://downlink.example")
	then := time.Date(2026, 11, 28, 19, 0, 0, 0, time.Local)
	paused := &pause.Pause{Until: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), Why: "the link is ours today"}
	require.Equal(t, paused, pause.Read(c.StateDir, then))
	month, err := volume.Open(c.StateDir, c.Policy.MonthlyBytes, c.Policy.ResetDay).Month(then)
	require.NoError(t, err)
	require.Equal(t, int64(2_215_332), month.Used)
	store, err := observe.Open(filepath.Join(c.StateDir, "observations"))
	require.NoError(t, err)
	require.Equal(t, []observe.Observation{{
		Quantity: "dish.snr", Unit: "dB", Source: "dish", At: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC), Value: 9.5,
	}}, store.Next())
}
