package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/server/protocol"
)

// observer reads one modem page, and sends what it shows to a server that counts.
type observer struct {
	agent    *agent.Agent
	waiting  string // the file of what the server does not have yet
	reads    atomic.Int64
	received atomic.Int64
	asked    atomic.Int64
	log      heard
	// answer is the server's; a test may have another one.
	answer func(w http.ResponseWriter, request protocol.ObservationsRequest)
	// hold answers whether runs of others hold the link; a server of before has no such route.
	hold func(w http.ResponseWriter)
}

// heard is what an agent logs.
type heard struct {
	mu   sync.Mutex
	said bytes.Buffer
}

func (h *heard) Write(line []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said.Write(line)
}

func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said.String()
}

// holds is how many values wait.
func (o *observer) holds(t *testing.T) int {
	content, err := os.ReadFile(o.waiting)
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	return bytes.Count(content, []byte("\n"))
}

// start runs until the test ends.
func (o *observer) start(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = o.agent.WatchLink(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
}

func newObserver(t *testing.T) *observer {
	t.Helper()
	o := &observer{hold: func(w http.ResponseWriter) { w.WriteHeader(http.StatusMethodNotAllowed) },
		answer: func(w http.ResponseWriter, request protocol.ObservationsRequest) {
			reply(w, map[string]int{"stored": len(request.Observations)})
		}}
	modem := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		o.reads.Add(1)
		_, _ = w.Write([]byte("SNR: 12.5 dB"))
	}))
	t.Cleanup(modem.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			o.asked.Add(1)
			o.hold(w)
			return
		}
		var request protocol.ObservationsRequest
		if json.NewDecoder(r.Body).Decode(&request) == nil && *request.Link == "geo" {
			o.received.Add(int64(len(request.Observations)))
		}
		o.answer(w, request)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "modem.yaml")
	text := "name: modem\nurl: " + modem.URL +
		"\nformat: text\nevery_s: 5\nquantities:\n  - {quantity: modem.snr_db, unit: dB, pattern: 'SNR: ([0-9.]+)'}\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	c := config.Default()
	c.Server, c.Name, c.StateDir, c.LockDir, c.DataHost = server.URL, "a", t.TempDir(), t.TempDir(), "127.0.0.1"
	c.Observe.Link, c.Observe.ModemPages = "geo", []string{file}
	a, err := agent.New(c, agent.Parts{Version: "test", Log: slog.New(slog.NewTextHandler(&o.log, nil)),
		Identity: config.Identity{AgentID: "a", Secret: "s"}, Host: settings.LinuxHost{}})
	require.NoError(t, err)
	a.HurryObserving()
	o.agent, o.waiting = a, filepath.Join(c.StateDir, "observations", "waiting.jsonl")
	return o
}

func TestAnAgentReadsWhileARunIsOnAndSendsAfterIt(t *testing.T) {
	o := newObserver(t)
	ctx, stop := context.WithCancel(t.Context())
	end := o.agent.Busy(ctx)
	ended := make(chan error, 1)
	go func() { ended <- o.agent.WatchLink(ctx) }()
	require.Eventually(t, func() bool { return o.reads.Load() > 0 }, patience, 10*time.Millisecond)
	require.Never(t, func() bool { return o.received.Load() > 0 }, 300*time.Millisecond, 10*time.Millisecond,
		"nothing is sent while a run is on")
	end()
	require.Eventually(t, func() bool { return o.received.Load() > 0 }, patience, 10*time.Millisecond)
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// TestObservationsWaitForRunsOfOthers: on the link behind which this agent is. It is in none of them.
func TestObservationsWaitForRunsOfOthers(t *testing.T) {
	o := newObserver(t)
	var isHeld atomic.Bool
	isHeld.Store(true)
	o.hold = func(w http.ResponseWriter) { reply(w, protocol.ObservationsHold{Hold: isHeld.Load()}) }
	o.start(t)
	require.Eventually(t, func() bool { return o.asked.Load() > 5 }, patience, 10*time.Millisecond)
	require.Zero(t, o.received.Load())
	isHeld.Store(false)
	require.Eventually(t, func() bool { return o.received.Load() > 0 && o.holds(t) == 0 }, patience, 10*time.Millisecond)
}

func TestObservationsDoNotWaitForEver(t *testing.T) {
	o := newObserver(t)
	o.agent.HoldObservations(200 * time.Millisecond)
	o.hold = func(w http.ResponseWriter) { reply(w, protocol.ObservationsHold{Hold: true}) }
	o.start(t)
	require.Eventually(t, func() bool { return o.received.Load() > 0 }, patience, 10*time.Millisecond)
	require.Greater(t, o.asked.Load(), int64(1), "but they waited")
}

func TestWhatTheServerHasIsForgotten(t *testing.T) {
	o := newObserver(t)
	o.start(t)
	require.Eventually(t, func() bool { return o.received.Load() > 0 && o.holds(t) == 0 }, patience, 10*time.Millisecond)
}

func TestAnAnswerThatIsNotTheServersIsNoReceipt(t *testing.T) {
	o := newObserver(t)
	o.answer = func(w http.ResponseWriter, _ protocol.ObservationsRequest) { _, _ = w.Write([]byte("please sign in")) }
	o.start(t)
	require.Eventually(t, func() bool { return o.received.Load() > 2 }, patience, 10*time.Millisecond, "it is sent again")
	require.Positive(t, o.holds(t))
}

func TestWhatTheServerRefusesIsDroppedAndSaid(t *testing.T) {
	o := newObserver(t)
	o.answer = func(w http.ResponseWriter, request protocol.ObservationsRequest) {
		refused := []protocol.RefusedValue{{Place: 0, Code: "observation_invalid", Message: "modem.snr_db is in dBm on geo, and not in dB."}}
		stored := len(request.Observations) - 1
		reply(w, protocol.ObservationsReply{Stored: &stored, RefusedCount: 1, Refused: refused})
	}
	o.start(t)
	require.Eventually(t, func() bool { return o.received.Load() > 0 && o.holds(t) == 0 }, patience, 10*time.Millisecond)
	require.Contains(t, o.log.text(), "it is dropped")
	require.Contains(t, o.log.text(), "modem.snr_db is in dBm on geo")
}
