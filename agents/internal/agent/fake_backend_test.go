package agent_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/server/protocol"
)

// fakeBackend conducts one run of two agents, whose secrets are "sender" and "receiver". Like the real one it keeps no
// queue of orders: what an agent gets follows from what it said.
type fakeBackend struct {
	URL string

	mu      sync.Mutex
	changed chan struct{}
	run     *fakeRun
	down    bool
	revoked bool
	// ahead is its clock's lead on this host's.
	ahead time.Duration
	// deaf: no event is taken.
	deaf bool
	// polls and events are what each agent said, in order.
	polls  map[string][]protocol.PollRequest
	events map[string][]map[string]any
	chunks map[string][]byte
	// heard is what each agent said, and when: a poll's status or an event's kind.
	heard map[string][]word
}

type word struct {
	at   time.Time
	what string
}

// note keeps a request that came in whole; one that the agent gave up says nothing.
func (b *fakeBackend) note(r *http.Request, what string) {
	b.heard[name(r)] = append(b.heard[name(r)], word{time.Now(), what})
}

// fakeRun is the run that the backend conducts.
type fakeRun struct {
	ref     protocol.RunRef
	prepare map[string]*protocol.Prepare
	abort   bool
	// held: everybody stays prepared.
	held bool
	// upstream names the neighbour upstream of each agent of a way over relays.
	upstream map[string]string
	startAt  time.Time
}

func newFakeBackend(t *testing.T) *fakeBackend {
	t.Helper()
	b := &fakeBackend{
		changed: make(chan struct{}), polls: map[string][]protocol.PollRequest{}, events: map[string][]map[string]any{},
		chunks: map[string][]byte{}, heard: map[string][]word{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/agent/poll", b.poll)
	mux.HandleFunc("POST /api/v1/agent/runs/{run}/events", b.event)
	mux.HandleFunc("PUT /api/v1/agent/runs/{run}/traces/{flow}/{point}/{sequence}", b.chunk)
	server := httptest.NewUnstartedServer(b.guard(mux))
	path := filepath.Join(t.TempDir(), "backend.sock")
	listener, err := net.Listen("unix", path)
	require.NoError(t, err)
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	b.URL = "unix://" + path
	return b
}

func (b *fakeBackend) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		down, revoked := b.down, b.revoked
		b.mu.Unlock()
		switch {
		case down:
			http.Error(w, "", http.StatusServiceUnavailable)
		case revoked:
			problem(w, http.StatusUnauthorized, "agent_unknown")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// problem answers as the server itself does.
func problem(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	reply(w, protocol.Problem{Code: code, Message: "The server's own word."})
}

func name(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// change alters the backend's state and wakes every poll that is held.
func (b *fakeBackend) change(alter func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	alter()
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *fakeBackend) poll(w http.ResponseWriter, r *http.Request) {
	var request protocol.PollRequest
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	b.change(func() {
		b.polls[name(r)] = append(b.polls[name(r)], request)
		b.note(r, string(request.Status))
	})
	deadline := time.After(time.Duration(request.WaitS * float64(time.Second)))
	for {
		b.mu.Lock()
		order, changed, now := b.decide(name(r), request), b.changed, time.Now().Add(b.ahead)
		b.mu.Unlock()
		if order != nil || request.WaitS == 0 {
			reply(w, protocol.PollResponse{Protocol: protocol.Version, ServerNow: protocol.Moment{Time: now}, Order: order})
			return
		}
		select {
		case <-changed:
		case <-deadline:
			request.WaitS = 0
		case <-r.Context().Done():
			return
		}
	}
}

func reply(w http.ResponseWriter, body any) { _ = json.NewEncoder(w).Encode(body) }

// decide is the conductor: the one thing that an agent in this state should do next.
func (b *fakeBackend) decide(agent string, said protocol.PollRequest) protocol.Order {
	run := b.run
	if run == nil || run.prepare[agent] == nil || said.Status == protocol.StatusBlocked {
		return nil
	}
	switch {
	case b.has(agent, run.ref, "failed"), b.has(agent, run.ref, "uploaded"):
		return nil
	case run.abort:
		if b.has(agent, run.ref, "restored") {
			return nil
		}
		return &protocol.Abort{RunRef: run.ref, Reason: "cancelled"}
	case b.has(agent, run.ref, "restored"):
		if !b.allHave(run, "restored") {
			return nil
		}
		return &protocol.Upload{RunRef: run.ref}
	case b.has(agent, run.ref, "ready"):
		return b.decideGo(agent, run)
	}
	return run.prepare[agent]
}

func (b *fakeBackend) decideGo(to string, run *fakeRun) protocol.Order {
	if run.held || !b.allHave(run, "ready") {
		return nil
	}
	if run.startAt.IsZero() {
		run.startAt = time.Now().Add(b.ahead + 200*time.Millisecond)
	}
	peers := map[int]string{}
	for agent, prepare := range run.prepare {
		for _, flow := range prepare.Flows {
			if flow.Role == protocol.RoleSender {
				peers[flow.Flow] = b.find(agent, run.ref, "ready")["data_address"].(string)
			}
		}
	}
	if neighbour, isOverRelays := run.upstream[to]; isOverRelays {
		peers[1] = b.find(neighbour, run.ref, "ready")["data_address"].(string)
	}
	return &protocol.Go{RunRef: run.ref, StartAt: protocol.Moment{Time: run.startAt}, Peers: peers}
}

func (b *fakeBackend) allHave(run *fakeRun, kind string) bool {
	for agent := range run.prepare {
		if !b.has(agent, run.ref, kind) {
			return false
		}
	}
	return true
}

func (b *fakeBackend) has(agent string, ref protocol.RunRef, kind string) bool {
	return b.find(agent, ref, kind) != nil
}

func (b *fakeBackend) find(agent string, ref protocol.RunRef, kind string) map[string]any {
	for _, event := range b.events[agent] {
		lease, _ := event["lease"].(string)
		if event["kind"] == kind && event["run_id"] == ref.RunID && int(event["attempt"].(float64)) == ref.Attempt && lease == ref.Lease {
			return event
		}
	}
	return nil
}

func (b *fakeBackend) event(w http.ResponseWriter, r *http.Request) {
	var event map[string]any
	if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	event["run_id"] = r.PathValue("run")
	b.mu.Lock()
	deaf := b.deaf
	b.mu.Unlock()
	if deaf {
		http.Error(w, "", http.StatusServiceUnavailable)
		return
	}
	isStale := false
	b.change(func() {
		b.note(r, event["kind"].(string))
		isStale = b.run == nil || b.run.ref.RunID != event["run_id"]
		if !isStale {
			b.events[name(r)] = append(b.events[name(r)], event)
		}
	})
	if isStale {
		problem(w, http.StatusConflict, "not_your_run")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (b *fakeBackend) chunk(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	digest := sha256.Sum256(body)
	if err != nil || hex.EncodeToString(digest[:]) != r.Header.Get("X-Content-SHA256") {
		http.Error(w, "", http.StatusUnprocessableEntity)
		return
	}
	place := fmt.Sprintf("%s/%s/%s", r.PathValue("flow"), r.PathValue("point"), r.PathValue("sequence"))
	isNew := false
	b.change(func() {
		_, known := b.chunks[place]
		isNew = !known
		b.chunks[place] = body
	})
	reply(w, protocol.ChunkReply{Stored: &isNew})
}

// await waits until a condition of the backend's state holds.
func (b *fakeBackend) await(t *testing.T, what string, limit time.Duration, holds func() bool) {
	t.Helper()
	deadline := time.After(limit)
	for {
		b.mu.Lock()
		done, changed := holds(), b.changed
		b.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			b.mu.Lock()
			defer b.mu.Unlock()
			require.FailNow(t, "waited in vain for "+what, "events: %v", b.events)
		}
	}
}

// awaitEvent returns an agent's event of the current run.
func (b *fakeBackend) awaitEvent(t *testing.T, agent, kind string, limit time.Duration) (event map[string]any) {
	t.Helper()
	var failed map[string]any
	b.await(t, agent+"'s "+kind, limit, func() bool {
		event, failed = b.find(agent, b.run.ref, kind), b.find(agent, b.run.ref, "failed")
		return event != nil || failed != nil
	})
	require.NotNil(t, event, "the run failed instead: %v", failed)
	return event
}

// said returns an agent's event of the current run, or nil.
func (b *fakeBackend) said(agent, kind string) map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.find(agent, b.run.ref, kind)
}

// trace returns one field of the uploaded chunks of a flow's end, in order.
func (b *fakeBackend) trace(t *testing.T, flow int, end, field string) (values []int64) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for sequence := 0; ; sequence++ {
		packed, known := b.chunks[strconv.Itoa(flow)+"/"+end+"/"+strconv.Itoa(sequence)]
		if !known {
			return values
		}
		header, columns, err := chunk.Decode(packed)
		require.NoError(t, err)
		for i, name := range header.Fields {
			if name == field {
				values = append(values, columns[i]...)
			}
		}
	}
}
