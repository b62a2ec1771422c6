package uplink

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/fuzztest"
)

// FuzzOutbox looks for a file of an event that makes the agent panic, or holds up the one behind it.
func FuzzOutbox(f *testing.F) {
	ref := protocol.RunRef{RunID: "0b5f2a1c-7d4e-4f6a-9b8c-1d2e3f4a5b6c", Attempt: 1}
	content, err := json.Marshal(letter{RunRef: ref, Body: json.RawMessage(`{"kind": "restored"}`)})
	require.NoError(f, err)
	fuzztest.Add(f, content)
	f.Fuzz(func(t *testing.T, found []byte) {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, "000000000001.json"), found, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "000000000002.json"), content, 0o600))
		box, err := OpenOutbox(folder, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		require.NotEmpty(t, box.queue)
		require.Equal(t, ref, box.queue[len(box.queue)-1].letter.RunRef)
		for _, each := range box.queue {
			require.NotEmpty(t, each.letter.RunID)
			require.True(t, json.Valid(each.letter.Body))
		}
	})
}

// FuzzReadReply looks for an answer that makes the agent panic, or that is taken for success and is not the server's.
func FuzzReadReply(f *testing.F) {
	names, err := filepath.Glob("../../../../docs/protocol/*_answer.json")
	require.NoError(f, err)
	require.NotEmpty(f, names)
	for _, name := range append(names, "../../../../docs/protocol/join_response.json", "../../../../docs/protocol/poll_response_idle.json") {
		content, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(http.StatusOK, "", content)
	}
	f.Add(http.StatusServiceUnavailable, "30", []byte(`{"code": "busy", "title": "t", "detail": "d"}`))
	f.Add(http.StatusUnauthorized, "99999999999999", []byte(`{"code": "agent_revoked"}`))
	f.Add(http.StatusOK, "-1", []byte("<html>Welcome</html>"))
	f.Fuzz(func(t *testing.T, status int, wait string, content []byte) {
		header := http.Header{}
		header.Set("Retry-After", wait)
		patience := retryAfter(header)
		require.True(t, patience >= 0 && patience <= 10*time.Minute)
		isFine := status >= 200 && status <= 299
		for _, into := range []any{&protocol.ObservationsReply{}, &protocol.ChunksReply{}, &protocol.JoinResponse{}, &protocol.PollResponse{}} {
			err := readReply(&http.Response{StatusCode: status, Header: header}, content, into)
			require.False(t, err == nil && (!isFine || !json.Valid(content)))
		}
		err := readReply(&http.Response{StatusCode: status, Header: header}, content, nil)
		require.Equal(t, status == http.StatusNoContent, err == nil)
	})
}
