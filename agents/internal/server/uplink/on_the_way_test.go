package uplink

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/server/protocol"
)

// Answers that a proxy, a firewall or a captive portal may give in the server's place.
const page = "<html><body>Sign in to the network</body></html>"

func answering(t *testing.T, status int, body string) *Client {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

func TestOnlyTheServersOwnWordRevokesAnAgent(t *testing.T) {
	for _, body := range []string{"", page, "{}", `{"message": "Unauthorized"}`, `{"code": "token_wrong", "message": "Another one's word."}`} {
		_, err := answering(t, http.StatusUnauthorized, body).Poll(t.Context(), protocol.PollRequest{})
		require.Error(t, err)
		require.NotErrorIs(t, err, ErrRevoked, body)
	}
	_, err := answering(t, http.StatusUnauthorized, `{"code": "agent_unknown", "message": "Join again."}`).Poll(t.Context(),
		protocol.PollRequest{})
	require.ErrorIs(t, err, ErrRevoked)
}

func TestASignInPageIsNoSuccess(t *testing.T) {
	for _, body := range []string{page, "{}", "null", "[]"} {
		client := answering(t, http.StatusOK, body)
		require.Error(t, client.PostEvent(t.Context(), "run-1", []byte("{}")), body)
		require.Error(t, client.PutChunk(t.Context(), Chunk{RunRef: ref}), body)
		_, err := client.Poll(t.Context(), protocol.PollRequest{})
		require.Error(t, err, body)
		_, known := client.Clock.Estimate(time.Now())
		require.False(t, known, "it says nothing of the server's clock")
		_, err = client.Join(t.Context(), protocol.JoinRequest{})
		require.Error(t, err, body)
	}
	require.NoError(t, answering(t, http.StatusOK, `{"stored": false}`).PutChunk(t.Context(), Chunk{RunRef: ref}), "it was there already")
}

func TestARefusalIsFinalOnlyInTheServersOwnWords(t *testing.T) {
	for _, status := range []int{400, 403, 404, 409, 413, 422} {
		require.False(t, (&StatusError{Status: status}).IsFinal(), status)
		require.True(t, (&StatusError{Status: status, Problem: ours}).IsFinal(), status)
	}
	for _, status := range []int{200, 302, 408, 429, 500, 503, 507} {
		require.False(t, (&StatusError{Status: status, Problem: ours}).IsFinal(), status)
	}
}

func TestNoEventIsLostOnAProxysWord(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 409, 413, 422, 200, 302} {
		o := openOutbox(t, t.TempDir())
		require.NoError(t, o.Add(ref, event("finished")))
		require.NoError(t, o.Add(ref, event("restored")))
		refused := map[string]bool{}
		kinds, err := deliver(t, o, func(kind string) error {
			if !refused[kind] {
				refused[kind] = true
				return &StatusError{Status: status}
			}
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, []string{"finished", "restored"}, kinds, status)
	}
}

func TestAnEventThatIsRefusedForEverStepsAsideWithItsRun(t *testing.T) {
	for name, refusal := range map[string]*StatusError{
		"the server's fault": {Status: http.StatusInternalServerError, Problem: ours},
		"a proxy's rule":     {Status: http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := openOutbox(t, dir)
			require.NoError(t, o.Add(ref, event("finished")))
			require.NoError(t, o.Add(ref, event("restored")))
			require.NoError(t, o.Add(otherRef, event("uploaded")))
			tries := 0
			refuse := func(kind string) error {
				if kind == "finished" {
					tries++
					return refusal
				}
				return nil
			}
			kinds, err := deliver(t, o, refuse)
			require.NoError(t, err)
			require.Equal(t, []string{"uploaded"}, kinds, "the other run's goes on; this run's keep their order")
			require.Equal(t, mostTries, tries)
			require.True(t, o.Has(ref))
			require.False(t, o.Waits(ref))
			count, aside := o.Aside()
			require.Equal(t, 2, count)
			require.Equal(t, ref, aside)

			o.recall(time.Now().Add(recallAfter - time.Second))
			require.True(t, o.IsEmpty(), "not yet")
			o.recall(time.Now().Add(recallAfter))
			kinds, err = deliver(t, o, func(string) error { return nil })
			require.NoError(t, err)
			require.Equal(t, []string{"finished", "restored"}, kinds)
			require.True(t, openOutbox(t, dir).IsEmpty())
		})
	}
}

func TestAfterARestartWhatWasSetAsideIsSentAgain(t *testing.T) {
	dir := t.TempDir()
	o := openOutbox(t, dir)
	require.NoError(t, o.Add(ref, event("finished")))
	_, err := deliver(t, o, func(string) error { return &StatusError{Status: http.StatusForbidden} })
	require.NoError(t, err)
	kinds, err := deliver(t, openOutbox(t, dir), func(string) error { return nil })
	require.NoError(t, err)
	require.Equal(t, []string{"finished"}, kinds)
}

func TestAServerThatIsBusyOrAwayIsWaitedFor(t *testing.T) {
	for _, status := range []int{429, 502, 503, 504, 507} {
		o := openOutbox(t, t.TempDir())
		require.NoError(t, o.Add(ref, event("finished")))
		tries := 0
		kinds, err := deliver(t, o, func(string) error {
			if tries++; tries <= 3*mostTries {
				return &StatusError{Status: status}
			}
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, []string{"finished"}, kinds, status)
	}
}
