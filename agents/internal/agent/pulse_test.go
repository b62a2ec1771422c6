package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/flow/controls"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/hosttest"
)

func TestALoopIsStuckWhenItWaitsLongerThanItSaid(t *testing.T) {
	zero := time.Now()
	at := func(seconds int) time.Time { return zero.Add(time.Duration(seconds) * time.Second) }
	p := agent.NewPulse(zero, 10*time.Second)
	require.False(t, p.IsStuck(at(10)))
	require.True(t, p.IsStuck(at(11)))

	p.Beat(at(20), time.Minute) // a server that asked it to come back in a minute
	require.False(t, p.IsStuck(at(90)))
	require.True(t, p.IsStuck(at(91)))

	p.Hush(at(100), time.Hour) // a receiver's run
	p.Beat(at(101), 0)
	require.False(t, p.IsStuck(at(3700)))
	require.True(t, p.IsStuck(at(3711)), "a run that never ends is no excuse")

	p.Hush(at(4000), time.Hour)
	p.Wake(at(4100))
	require.False(t, p.IsStuck(at(4110)), "it has a moment to come round")
	require.True(t, p.IsStuck(at(4111)), "its run has ended")
}

// systemd listens where a unit's program finds it.
type systemd struct{ socket *net.UnixConn }

const watchdog = 300 * time.Millisecond

func listenAsSystemd(t *testing.T) *systemd {
	t.Helper()
	folder, err := os.MkdirTemp("", "notify") // t.TempDir is too long for a socket's name
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	path := filepath.Join(folder, "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = socket.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "300000")
	return &systemd{socket: socket}
}

// hear returns the next word, or nothing when none comes in time.
func (s *systemd) hear(t *testing.T, within time.Duration) string {
	t.Helper()
	require.NoError(t, s.socket.SetReadDeadline(time.Now().Add(within)))
	buffer := make([]byte, 100)
	n, err := s.socket.Read(buffer)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ""
	}
	require.NoError(t, err)
	return string(buffer[:n])
}

// startWatched runs an agent in this process until the test ends.
func startWatched(t *testing.T, server string) (a *agent.Agent, stop func()) {
	t.Helper()
	c := config.Default()
	c.Server, c.Name, c.StateDir, c.LockDir, c.DataHost = server, "watched", t.TempDir(), t.TempDir(), "127.0.0.1"
	a, err := agent.New(c, agent.Parts{
		Version: "test", Log: slog.New(slog.DiscardHandler), Identity: config.Identity{AgentID: "watched", Secret: "watched"},
		Host: settings.LinuxHost{}, Controls: &controls.Library{},
	})
	require.NoError(t, err)
	a.HurryWatch(time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	return a, func() {
		cancel()
		require.NoError(t, <-ended)
	}
}

func TestSystemdHearsOfALoopThatGoesOnAndNotOfAStuckOne(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "hears a sign of life each tenth of a second")
	listener := listenAsSystemd(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reply(w, protocol.PollResponse{Protocol: protocol.Version, ServerNow: protocol.Moment{Time: time.Now()}})
	}))
	t.Cleanup(server.Close)
	a, stop := startWatched(t, server.URL)
	require.Equal(t, "READY=1", listener.hear(t, patience))
	for range 15 { // longer than the watchdog takes a loop for stuck, were it not to beat
		require.Equal(t, "WATCHDOG=1", listener.hear(t, watchdog))
	}

	a.Freeze()
	silent := time.Now()
	for listener.hear(t, watchdog) != "" {
		require.Less(t, time.Since(silent), 3*time.Second, "signs of life of a stuck loop")
	}
	require.Empty(t, listener.hear(t, time.Second), "signs of life of a stuck loop")

	a.Thaw()
	require.Equal(t, "WATCHDOG=1", listener.hear(t, patience))
	stop()
	for word := listener.hear(t, patience); word != "STOPPING=1"; word = listener.hear(t, patience) {
		require.Equal(t, "WATCHDOG=1", word)
	}
}

func TestAnAgentWhoseServerIsAwayIsNotStuck(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "hears a sign of life each tenth of a second")
	listener := listenAsSystemd(t)
	_, stop := startWatched(t, "http://127.0.0.1:9")
	defer stop()
	require.Equal(t, "READY=1", listener.hear(t, patience))
	for range 25 {
		require.Equal(t, "WATCHDOG=1", listener.hear(t, watchdog))
	}
}

// TestAnIdleAgentKeepsTheServersClock: a run that comes after an hour of nothing to do must find it.
func TestAnIdleAgentKeepsTheServersClock(t *testing.T) {
	polls := make(chan protocol.PollRequest, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked protocol.PollRequest
		if json.NewDecoder(r.Body).Decode(&asked) == nil {
			polls <- asked
		}
		if asked.WaitS > 0 { // as an idle agent's are
			<-r.Context().Done()
			return
		}
		reply(w, protocol.PollResponse{Protocol: protocol.Version, ServerNow: protocol.Moment{Time: time.Now()}})
	}))
	t.Cleanup(server.Close)
	a, stop := startWatched(t, server.URL)
	require.Zero(t, (<-polls).WaitS, "nothing is known of the clock yet")
	require.Positive(t, (<-polls).WaitS)
	now := time.Now()
	require.Positive(t, a.WaitAt(now))
	require.Zero(t, a.WaitAt(now.Add(6*time.Minute)), "before the estimate is too old")
	stop()
}
