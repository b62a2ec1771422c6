package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/flow/controls"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
	"downlink/agents/internal/testing/hosttest"
)

// collector is a server that asks for one run's chunks until they are uploaded. refuse may answer a chunk in its place,
// as something on the way would.
type collector struct {
	URL    string
	order  protocol.Order
	refuse func(sequence string, w http.ResponseWriter) bool
	// refuseRequest may hold a chunk up and give no answer; nil: it never does.
	refuseRequest func(r *http.Request) bool
	// judge answers a chunk of a bundle that is not just stored; nil: the server takes no bundles.
	judge func(answer *protocol.ChunkAnswer)
	// refuseBundle may answer a request in its place; nil: it never does.
	refuseBundle func(number int, w http.ResponseWriter) bool

	mu    sync.Mutex
	polls []protocol.PollRequest
	puts  map[string]int
	// bundles are how many chunks each request with several held.
	bundles  []int
	stored   map[string]string
	uploaded bool
	events   [][]byte
	// orderedAt is when the first order was given, storedAt when the latest chunk was stored.
	orderedAt, storedAt time.Time
	// holds: a run holds the link, so that nothing is asked for, and an upload under way ends.
	holds, goesOn bool
	// signIns is how many polls a captive portal still answers.
	signIns int
}

func newCollector(t testing.TB) *collector {
	t.Helper()
	c := &collector{
		order: &protocol.Upload{RunRef: protocol.RunRef{RunID: runID, Attempt: 1}}, puts: map[string]int{}, stored: map[string]string{},
		refuse: func(string, http.ResponseWriter) bool { return false },
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/agent/poll", c.poll)
	mux.HandleFunc("POST /api/v1/agent/runs/{run}/events", c.event)
	mux.HandleFunc("PUT /api/v1/agent/runs/{run}/traces/1/sender/{sequence}", c.put)
	mux.HandleFunc("POST /api/v1/agent/runs/{run}/chunks", c.bundle)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

func (c *collector) poll(w http.ResponseWriter, r *http.Request) {
	var request protocol.PollRequest
	_ = json.NewDecoder(r.Body).Decode(&request)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.signIns--; c.signIns >= 0 {
		http.Error(w, "<html>sign in</html>", http.StatusUnauthorized)
		return
	}
	c.polls = append(c.polls, request)
	answer := protocol.PollResponse{Protocol: protocol.Version, ServerNow: protocol.Moment{Time: time.Now()}}
	if c.holds {
		answer.HoldUpload = request.Status == protocol.StatusUploading
	} else if len(request.Spool) > 0 {
		answer.Order = c.order
		if c.orderedAt.IsZero() {
			c.orderedAt = time.Now()
		}
	}
	reply(w, answer)
}

func (c *collector) event(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	c.uploaded = true
	c.events = append(c.events, body)
	c.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (c *collector) put(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	sequence := r.PathValue("sequence")
	c.mu.Lock()
	c.puts[sequence]++
	c.mu.Unlock()
	if c.refuse(sequence, w) || (c.refuseRequest != nil && c.refuseRequest(r)) {
		return
	}
	c.mu.Lock()
	_, known := c.stored[sequence]
	c.stored[sequence], c.storedAt = string(body), time.Now()
	c.mu.Unlock()
	isNew := !known
	reply(w, protocol.ChunkReply{Stored: &isNew})
}

func (c *collector) await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return holds()
	}, patience, 5*time.Millisecond, what)
}

// troubles are the sentences that came with a reason.
func (c *collector) troubles() (sentences []string) {
	for _, poll := range c.polls {
		if poll.Reason != nil && *poll.Reason == protocol.ReasonUploadRefused && poll.Detail != nil {
			sentences = append(sentences, *poll.Detail)
		}
	}
	return sentences
}

func (c *collector) requireAll(t *testing.T, chunks int) {
	t.Helper()
	c.await(t, "every chunk", func() bool { return c.uploaded })
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Len(t, c.stored, chunks)
	for sequence, body := range c.stored {
		require.Equal(t, "chunk "+sequence, body)
	}
}

// holding is an agent's state folder with chunks in its spool.
func holding(t testing.TB, server string, chunks int) config.Config {
	t.Helper()
	c := config.Default()
	c.Server, c.Name, c.StateDir, c.LockDir, c.DataHost = server, "a", t.TempDir(), t.TempDir(), "127.0.0.1"
	s, err := spool.Open(filepath.Join(c.StateDir, "spool"), 0)
	require.NoError(t, err)
	for sequence := range chunks {
		key := spool.Key{RunID: runID, Attempt: 1, Flow: 1, Point: "sender", Sequence: sequence}
		require.NoError(t, s.Put(key, fmt.Appendf(nil, "chunk %d", sequence)))
	}
	return c
}

func chunkPath(c config.Config, sequence int) string {
	return filepath.Join(c.StateDir, "spool", runID, "1", fmt.Sprintf("1-sender-%d.dlc", sequence))
}

// serving runs an agent until the returned function is called; meanwhile is called once it has opened its folders.
func serving(t testing.TB, c config.Config, meanwhile ...func(*agent.Agent)) (stop func()) {
	t.Helper()
	a, err := agent.New(c, agent.Parts{
		Version: "test", Log: slog.New(slog.DiscardHandler), Identity: config.Identity{AgentID: "a", Secret: "s"},
		Host: &settings.FakeHost{}, Controls: controls.Kernel{},
	})
	require.NoError(t, err)
	for _, call := range meanwhile {
		call(a)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	return stop
}

// firstTries answers the first tries of every chunk with a page of a proxy.
func (c *collector) firstTries(tries, status int) func(string, http.ResponseWriter) bool {
	return func(sequence string, w http.ResponseWriter) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.puts[sequence] > tries {
			return false
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<html>no</html>")
		return true
	}
}

func TestWhatAProxySaysOfAChunkIsNotTheServersWord(t *testing.T) {
	for _, status := range []int{200, 302, 400, 401, 403, 404, 409, 413, 422, 500} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			c := newCollector(t)
			c.refuse = c.firstTries(1, status)
			serving(t, holding(t, c.URL, 2))
			c.requireAll(t, 2)
		})
	}
}

func TestAChunkThatDoesNotGetThroughIsReportedByNameAndTriedAgain(t *testing.T) {
	hosttest.Verify(t, hosttest.Faults, "waits for pauses between uploads")
	t.Parallel()
	c := newCollector(t)
	var reported bool
	c.refuse = func(sequence string, w http.ResponseWriter) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if reported = reported || len(c.troubles()) > 0; reported || sequence != "1" {
			return false
		}
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return true
	}
	serving(t, holding(t, c.URL, 3))
	c.requireAll(t, 3)
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Contains(t, c.troubles()[0], "Chunk 1 of flow 1's sender did not get through in 5 tries")
	require.Contains(t, c.troubles()[0], "413 Request Entity Too Large")
}

func TestAnAgentWhoseChunksDoNotGetThroughIsFreeForRunsAndKeepsThem(t *testing.T) {
	t.Parallel()
	const chunks, stuck = 12, 2
	c := newCollector(t)
	c.refuse = func(sequence string, w http.ResponseWriter) bool {
		isStuck := len(sequence) == 2 // 10 and 11
		if isStuck {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
		return isStuck
	}
	state := holding(t, c.URL, chunks)
	serving(t, state, (*agent.Agent).Hurry)
	var last protocol.PollRequest
	c.await(t, "an idle agent with a reason", func() bool {
		if len(c.polls) > 0 {
			last = c.polls[len(c.polls)-1]
		}
		return last.Status == protocol.StatusIdle && last.Reason != nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Equal(t, protocol.ReasonUploadRefused, *last.Reason)
	require.Contains(t, *last.Detail, "2 chunks of run "+runID+" are left for later")
	require.Contains(t, *last.Detail, "413")
	require.Equal(t, stuck, last.Spool[0].Chunks)
	require.Len(t, c.stored, chunks-stuck)
	require.False(t, c.uploaded)
	require.FileExists(t, chunkPath(state, 10))
}

func TestAnUnreadableChunkIsReportedAndTheOthersGoOn(t *testing.T) {
	hosttest.Verify(t, hosttest.Faults, "waits for pauses between uploads")
	t.Parallel()
	c := newCollector(t)
	state := holding(t, c.URL, 3)
	content, err := os.ReadFile(chunkPath(state, 0))
	require.NoError(t, err)
	serving(t, state, func(*agent.Agent) {
		require.NoError(t, os.Remove(chunkPath(state, 0)))
		require.NoError(t, os.Mkdir(chunkPath(state, 0), 0o700))
	})
	c.await(t, "the report", func() bool { return len(c.troubles()) > 0 && len(c.stored) == 2 })
	c.mu.Lock()
	require.Contains(t, c.troubles()[0], "is a directory")
	c.mu.Unlock()
	require.NoError(t, os.Remove(chunkPath(state, 0)))
	require.NoError(t, os.WriteFile(chunkPath(state, 0), content, 0o600))
	c.requireAll(t, 3)
}

func TestAChunkThatTheServerItselfRefusesIsSetAsideAndTheOthersGoOn(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusConflict} {
		c := newCollector(t)
		c.refuse = func(sequence string, w http.ResponseWriter) bool {
			if sequence == "0" {
				problem(w, status, "chunk_wrong")
			}
			return sequence == "0"
		}
		state := holding(t, c.URL, 3)
		serving(t, state)
		c.await(t, "the end", func() bool { return c.uploaded })
		require.Len(t, c.stored, 2)
		require.FileExists(t, chunkPath(state, 0)+".bad")
	}
}

func TestSeveralChunksAreOnTheirWayAtATime(t *testing.T) {
	t.Parallel()
	const inFlight, chunks = 4, 9
	c := newCollector(t)
	arrived, leave := make(chan struct{}, chunks), make(chan struct{})
	c.refuse = func(string, http.ResponseWriter) bool {
		arrived <- struct{}{}
		<-leave
		return false
	}
	serving(t, holding(t, c.URL, chunks))
	for range inFlight {
		<-arrived
	}
	c.mu.Lock()
	require.Len(t, c.puts, inFlight)
	c.mu.Unlock()
	close(leave)
	c.requireAll(t, chunks)
}

func TestAnUploadThatWasBrokenOffGoesOnWithWhatIsLeft(t *testing.T) {
	t.Parallel()
	const chunks, inFlight = 20, 4
	c := newCollector(t)
	half := make(chan struct{})
	once := sync.OnceFunc(func() { close(half) })
	c.refuse = func(string, http.ResponseWriter) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.stored) >= chunks/2 {
			once()
		}
		return false
	}
	state := holding(t, c.URL, chunks)
	stop := serving(t, state)
	<-half
	stop()
	serving(t, state)
	c.requireAll(t, chunks)
	c.mu.Lock()
	defer c.mu.Unlock()
	repeats := 0
	for _, count := range c.puts {
		repeats += count - 1
	}
	require.LessOrEqual(t, repeats, inFlight, "only what was on its way is sent again")
}

func TestAnUploadEndsAtOnceWhileARunHoldsTheLinkAndGoesOnAfterIt(t *testing.T) {
	t.Parallel()
	const chunks, inFlight = 20, 4
	c := newCollector(t)
	half, broken := make(chan struct{}), make(chan struct{}, chunks)
	once := sync.OnceFunc(func() { close(half) })
	c.refuseRequest = func(r *http.Request) bool {
		c.mu.Lock()
		isCrossing := len(c.stored) >= chunks/2 && !c.goesOn
		c.mu.Unlock()
		if isCrossing {
			once()
			<-r.Context().Done() // a slow way: the chunk would be on it for long
			broken <- struct{}{}
		}
		return isCrossing
	}
	serving(t, holding(t, c.URL, chunks))
	<-half
	c.mu.Lock()
	c.holds, c.uploaded = true, false
	c.mu.Unlock()
	<-broken
	c.await(t, "an agent that is free", func() bool {
		last := c.polls[len(c.polls)-1]
		return last.Status == protocol.StatusIdle && len(last.Spool) == 1
	})
	c.mu.Lock()
	before := len(c.stored)
	require.Less(t, before, chunks)
	require.Empty(t, c.troubles(), "no trouble is reported")
	c.holds, c.goesOn = false, true
	c.mu.Unlock()
	c.requireAll(t, chunks)
	c.mu.Lock()
	defer c.mu.Unlock()
	repeats := 0
	for _, count := range c.puts {
		repeats += count - 1
	}
	require.LessOrEqual(t, repeats, inFlight, "only what was on its way is sent again")
}

func TestADiscardDeletesOnlyWhatNobodyCanWant(t *testing.T) {
	t.Parallel()
	ref := protocol.RunRef{RunID: runID, Attempt: 1}
	for _, mayDelete := range []bool{false, true} {
		c := newCollector(t)
		c.order = &protocol.Discard{RunRef: ref, Reason: "lease_expired", Delete: mayDelete}
		state := holding(t, c.URL, 2)
		stop := serving(t, state)
		c.await(t, "a poll without chunks", func() bool {
			return len(c.polls) > 1 && len(c.polls[len(c.polls)-1].Spool) == 0
		})
		stop()
		if mayDelete {
			require.NoDirExists(t, filepath.Dir(chunkPath(state, 0)))
			continue
		}
		require.FileExists(t, chunkPath(state, 0))
		require.FileExists(t, chunkPath(state, 1))
	}
}

func TestASignInPageInTheServersPlaceDoesNotStopTheAgent(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	c.signIns = 2
	serving(t, holding(t, c.URL, 1))
	c.requireAll(t, 1)
}
