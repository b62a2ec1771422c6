package agent_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
)

// bundle takes a request with several chunks.
func (c *collector) bundle(w http.ResponseWriter, r *http.Request) {
	content := bufio.NewReader(r.Body)
	chunks := map[protocol.ChunkHead]string{}
	var heads []protocol.ChunkHead
	for {
		line, err := content.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		var head protocol.ChunkHead
		if err := json.Unmarshal(line, &head); err != nil {
			problem(w, http.StatusUnprocessableEntity, "bundle_invalid")
			return
		}
		body := make([]byte, head.Size)
		_, _ = io.ReadFull(content, body)
		heads, chunks[head] = append(heads, head), string(body)
	}
	c.mu.Lock()
	c.bundles = append(c.bundles, len(heads))
	number := len(c.bundles)
	c.mu.Unlock()
	if c.judge == nil {
		http.NotFound(w, r)
		return
	}
	if c.refuseBundle != nil && c.refuseBundle(number, w) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var answers protocol.ChunksReply
	for _, head := range heads {
		answer := protocol.ChunkAnswer{Flow: head.Flow, Point: head.Point, Sequence: head.Sequence, Status: http.StatusOK, Stored: new(true)}
		if digest := sha256.Sum256([]byte(chunks[head])); hex.EncodeToString(digest[:]) != head.SHA256 {
			refuseChunk(&answer, http.StatusUnprocessableEntity, "chunk_damaged")
		}
		if c.judge(&answer); answer.Stored != nil {
			c.stored[strconv.Itoa(head.Sequence)], c.storedAt = chunks[head], time.Now()
		}
		answers.Chunks = append(answers.Chunks, answer)
	}
	reply(w, answers)
}

func refuseChunk(answer *protocol.ChunkAnswer, status int, code string) {
	answer.Status, answer.Stored, answer.Code, answer.Message = status, nil, code, "The server's own word."
}

func storeAll(*protocol.ChunkAnswer) {}

func newBundler(t *testing.T, judge func(*protocol.ChunkAnswer)) *collector {
	t.Helper()
	c := newCollector(t)
	c.judge = judge
	return c
}

// fill puts more chunks, of so many bytes, into an agent's spool.
func fill(t testing.TB, c config.Config, chunks, bytes int) {
	t.Helper()
	s, err := spool.Open(filepath.Join(c.StateDir, "spool"), 0)
	require.NoError(t, err)
	for sequence := range chunks {
		require.NoError(t, s.Put(spool.Key{RunID: runID, Attempt: 1, Flow: 1, Point: "sender", Sequence: sequence}, make([]byte, bytes)))
	}
}

func TestChunksGoSeveralToARequest(t *testing.T) {
	t.Parallel()
	for chunks, requests := range map[int][]int{1: {1}, 16: {16}, 70: {6, 64}} {
		c := newBundler(t, storeAll)
		serving(t, holding(t, c.URL, chunks))
		c.requireAll(t, chunks)
		slices.Sort(c.bundles)
		require.Equal(t, requests, c.bundles)
		require.Empty(t, c.puts)
	}
}

func TestARequestIsNotLargerThanASlowChannelCanCarry(t *testing.T) {
	t.Parallel()
	c := newBundler(t, storeAll)
	arrived, leave := make(chan struct{}, 3), make(chan struct{})
	c.refuseBundle = func(int, http.ResponseWriter) bool {
		arrived <- struct{}{}
		<-leave
		return false
	}
	state := holding(t, c.URL, 0)
	fill(t, state, 5, 200<<10)
	serving(t, state)
	for range 3 {
		<-arrived
	}
	close(leave)
	c.await(t, "the end", func() bool { return c.uploaded })
	slices.Sort(c.bundles)
	require.Equal(t, []int{1, 2, 2}, c.bundles, "at most 512 KiB each before one was answered")
}

func TestRequestsCarryMoreWhereTheyGetThroughQuickly(t *testing.T) {
	t.Parallel()
	c := newBundler(t, storeAll)
	state := holding(t, c.URL, 0)
	fill(t, state, 100, 100<<10)
	serving(t, state)
	c.await(t, "the end", func() bool { return c.uploaded })
	require.Equal(t, 5, c.bundles[0], "512 KiB")
	require.Equal(t, 20, slices.Max(c.bundles), "2 MiB")
}

func TestWhereLargerRequestsAreRefusedTheNextOnesAreSmallAgain(t *testing.T) {
	t.Parallel()
	const inFlight, chunks = 4, 200
	c := newBundler(t, storeAll)
	c.refuseBundle = func(number int, w http.ResponseWriter) bool {
		c.mu.Lock()
		isLarge := c.bundles[number-1] > 10
		c.mu.Unlock()
		if isLarge {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
		return isLarge
	}
	state := holding(t, c.URL, 0)
	fill(t, state, chunks, 100<<10)
	serving(t, state)
	c.await(t, "the end", func() bool { return c.uploaded })
	require.Len(t, c.stored, chunks)
	large := 0
	for _, held := range c.bundles {
		if held > 10 {
			large++
		}
	}
	require.Positive(t, large)
	require.LessOrEqual(t, large, inFlight+1, "those that were filled when the first was refused")
}

func TestWhatIsAnsweredOfOneChunkConcernsNoOther(t *testing.T) {
	t.Parallel()
	c := newBundler(t, func(answer *protocol.ChunkAnswer) {
		switch answer.Sequence {
		case 0:
			refuseChunk(answer, http.StatusUnprocessableEntity, "chunk_wrong")
		case 1:
			refuseChunk(answer, http.StatusUnprocessableEntity, "chunk_damaged")
		case 2:
			*answer.Stored = false // it was there already
		}
	})
	state := holding(t, c.URL, 5)
	serving(t, state)
	c.await(t, "the end", func() bool { return c.uploaded })
	require.FileExists(t, chunkPath(state, 0)+".bad")
	require.Len(t, c.stored, 4)
	require.Equal(t, map[string]int{"1": 1}, c.puts, "what was damaged on its way is sent again, by itself")
	require.Equal(t, []int{5}, c.bundles)
}

func TestARunThatIsNoLongerThisAgentsKeepsItsChunks(t *testing.T) {
	t.Parallel()
	c := newBundler(t, func(answer *protocol.ChunkAnswer) { refuseChunk(answer, http.StatusConflict, "not_your_run") })
	state := holding(t, c.URL, 3)
	stop := serving(t, state)
	c.await(t, "the answer", func() bool { return len(c.bundles) > 0 })
	stop()
	require.FileExists(t, chunkPath(state, 0))
	require.Empty(t, c.puts)
	require.False(t, c.uploaded)
}

func TestABundleThatDoesNotGetThroughGoesOneByOne(t *testing.T) {
	t.Parallel()
	answers := map[string]func(http.ResponseWriter){
		"a server from before": func(w http.ResponseWriter) { problem(w, http.StatusNotFound, "not_found") },
		"too large":            func(w http.ResponseWriter) { w.WriteHeader(http.StatusRequestEntityTooLarge) },
		"not understood":       func(w http.ResponseWriter) { problem(w, http.StatusUnprocessableEntity, "bundle_invalid") },
		"a page of a proxy":    func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>sign in</html>") },
		"another's answer":     func(w http.ResponseWriter) { reply(w, protocol.ChunksReply{Chunks: make([]protocol.ChunkAnswer, 3)}) },
		"cut off each time": func(w http.ResponseWriter) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_ = conn.Close()
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newBundler(t, storeAll)
			c.refuseBundle = func(_ int, w http.ResponseWriter) bool { answer(w); return true }
			serving(t, holding(t, c.URL, 3), (*agent.Agent).Hurry)
			c.requireAll(t, 3)
			require.Len(t, c.puts, 3)
		})
	}
}

func TestABundleIsRepeatedWhileTheServerIsBusy(t *testing.T) {
	t.Parallel()
	c := newBundler(t, storeAll)
	c.refuseBundle = func(number int, w http.ResponseWriter) bool {
		if number < 4 {
			problem(w, http.StatusServiceUnavailable, "busy")
		}
		return number < 4
	}
	serving(t, holding(t, c.URL, 3), (*agent.Agent).Hurry)
	c.requireAll(t, 3)
	require.Equal(t, []int{3, 3, 3, 3}, c.bundles)
	require.Empty(t, c.puts)
}

func TestADamagedFileIsSetAsideAndTheOthersGoOn(t *testing.T) {
	t.Parallel()
	c := newBundler(t, storeAll)
	state := holding(t, c.URL, 3)
	require.NoError(t, os.WriteFile(chunkPath(state, 1), []byte("DLC1 something else"), 0o600))
	serving(t, state)
	c.await(t, "the end", func() bool { return c.uploaded })
	require.Equal(t, []int{2}, c.bundles)
	require.FileExists(t, chunkPath(state, 1)+".bad")
}
