package agent_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/config"
	"downlink/agents/internal/protocol"
	"downlink/agents/internal/settings"
)

// observer reads one modem page, and sends what it shows to a server that counts.
type observer struct {
	agent    *agent.Agent
	reads    atomic.Int64
	received atomic.Int64
}

func newObserver(t *testing.T) *observer {
	t.Helper()
	o := &observer{}
	modem := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		o.reads.Add(1)
		_, _ = w.Write([]byte("SNR: 12.5 dB"))
	}))
	t.Cleanup(modem.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request protocol.ObservationsRequest
		if json.NewDecoder(r.Body).Decode(&request) == nil && *request.Link == "geo" {
			o.received.Add(int64(len(request.Observations)))
		}
		reply(w, map[string]int{"stored": len(request.Observations)})
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "modem.yaml")
	text := "name: modem\nurl: " + modem.URL + "\nformat: text\nevery_s: 5\nquantities:\n  - {quantity: modem.snr_db, unit: dB, pattern: 'SNR: ([0-9.]+)'}\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	c := config.Default()
	c.Server, c.Name, c.StateDir, c.LockDir, c.DataHost = server.URL, "a", t.TempDir(), t.TempDir(), "127.0.0.1"
	c.Observe.Link, c.Observe.ModemPages = "geo", []string{file}
	a, err := agent.New(c, agent.Parts{Version: "test", Log: slog.New(slog.DiscardHandler), Identity: config.Identity{AgentID: "a", Secret: "s"}, Host: settings.LinuxHost{}})
	require.NoError(t, err)
	a.HurryObserving()
	o.agent = a
	return o
}

func TestAnAgentReadsWhileARunIsOnAndSendsAfterIt(t *testing.T) {
	o := newObserver(t)
	ctx, stop := context.WithCancel(t.Context())
	end := o.agent.Busy(ctx)
	ended := make(chan error, 1)
	go func() { ended <- o.agent.WatchLink(ctx) }()
	require.Eventually(t, func() bool { return o.reads.Load() > 0 }, patience, 10*time.Millisecond)
	require.Never(t, func() bool { return o.received.Load() > 0 }, 300*time.Millisecond, 10*time.Millisecond, "nothing is sent while a run is on")
	end()
	require.Eventually(t, func() bool { return o.received.Load() > 0 }, patience, 10*time.Millisecond)
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
}
