package uplink

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"downlink/agents/internal/server/protocol"
)

var (
	ref      = protocol.RunRef{RunID: "run-1", Attempt: 1}
	otherRef = protocol.RunRef{RunID: "run-2", Attempt: 1}
	// ours is what only the server itself says.
	ours = protocol.Problem{Code: "some_code", Message: "The server's own word."}
)

func event(kind protocol.EventKind) protocol.Uploaded {
	return protocol.Uploaded{EventHead: protocol.EventHead{Kind: kind, Attempt: 1}}
}

func openOutbox(t *testing.T, dir string) *Outbox {
	t.Helper()
	o, err := OpenOutbox(dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	o.backoff = &Backoff{First: time.Millisecond, Max: time.Millisecond}
	return o
}

// deliver posts until the outbox is empty, and returns the kinds in the order of their arrival.
func deliver(t *testing.T, o *Outbox, answer func(kind string) error) (kinds []string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	post := func(_ context.Context, _ string, body []byte) error {
		var head struct{ Kind string }
		require.NoError(t, json.Unmarshal(body, &head))
		answered := answer(head.Kind)
		if answered == nil {
			kinds = append(kinds, head.Kind)
		}
		return answered
	}
	done := errors.New("done")
	ctx, finish := context.WithCancelCause(ctx)
	go func() {
		for !o.IsEmpty() && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		finish(done)
	}()
	err = o.Deliver(ctx, post, func(protocol.RunRef) {})
	if errors.Is(err, done) {
		err = nil
	}
	return kinds, err
}

func TestEventsSurviveARestartAndKeepTheirOrder(t *testing.T) {
	dir := t.TempDir()
	first := openOutbox(t, dir)
	require.NoError(t, first.Add(ref, event("ready")))
	require.NoError(t, first.Add(ref, event("finished")))
	second := openOutbox(t, dir)
	require.NoError(t, second.Add(ref, event("restored")))
	require.True(t, second.Has(ref))
	kinds, err := deliver(t, second, func(string) error { return nil })
	require.NoError(t, err)
	require.Equal(t, []string{"ready", "finished", "restored"}, kinds)
	require.True(t, openOutbox(t, dir).IsEmpty(), "what was accepted is gone from the disk")
}

func TestAnEventIsRepeatedUntilItIsAccepted(t *testing.T) {
	o := openOutbox(t, t.TempDir())
	require.NoError(t, o.Add(ref, event("ready")))
	require.NoError(t, o.Add(ref, event("failed")))
	failures := 0
	kinds, err := deliver(t, o, func(kind string) error {
		if kind == "ready" && failures == 0 {
			failures++
			return &StatusError{Status: http.StatusServiceUnavailable}
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{"ready", "failed"}, kinds, "a later event never overtakes an earlier one")
}

func TestARunThatWasTakenAwayLosesItsEvents(t *testing.T) {
	o := openOutbox(t, t.TempDir())
	require.NoError(t, o.Add(ref, event("ready")))
	require.NoError(t, o.Add(ref, event("finished")))
	require.NoError(t, o.Add(otherRef, event("uploaded")))
	kinds, err := deliver(t, o, func(kind string) error {
		if kind == "ready" {
			return &StatusError{Status: http.StatusConflict, Problem: ours}
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{"uploaded"}, kinds)
}

func TestARefusedEventDoesNotHoldUpTheNext(t *testing.T) {
	o := openOutbox(t, t.TempDir())
	require.NoError(t, o.Add(ref, event("ready")))
	require.NoError(t, o.Add(ref, event("finished")))
	kinds, err := deliver(t, o, func(kind string) error {
		if kind == "ready" {
			return &StatusError{Status: http.StatusUnprocessableEntity, Problem: ours}
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{"finished"}, kinds)
}

func TestARevokedSecretEndsTheDelivery(t *testing.T) {
	o := openOutbox(t, t.TempDir())
	require.NoError(t, o.Add(ref, event("ready")))
	_, err := deliver(t, o, func(string) error { return ErrRevoked })
	require.ErrorIs(t, err, ErrRevoked)
	require.False(t, o.IsEmpty(), "the event is kept")
}

func TestATornEventFileIsSetAside(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, openOutbox(t, dir).Add(ref, event("ready")))
	torn := filepath.Join(dir, "000000000000.json")
	require.NoError(t, os.WriteFile(torn, []byte(`{"run_id"`), 0o600))
	kinds, err := deliver(t, openOutbox(t, dir), func(string) error { return nil })
	require.NoError(t, err)
	require.Equal(t, []string{"ready"}, kinds)
	require.FileExists(t, torn+".bad")
}

// The true offset lies within the error whatever part of the round trip each way takes.
func TestTheClockEstimateHoldsTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := time.Now()
		offset := time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "offset"))
		var clock Clock
		now, fastest := start, time.Hour
		for range rapid.IntRange(1, 20).Draw(t, "exchanges") {
			there := time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "there"))
			back := time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "back"))
			clock.Note(now, now.Add(there+back), now.Add(there+offset))
			fastest = min(fastest, there+back)
			now = now.Add(there + back + time.Second)
		}
		estimate, known := clock.Estimate(now)
		require.True(t, known)
		require.LessOrEqual(t, (estimate.Offset - offset).Abs(), estimate.Error+1)
		require.InDelta(t, float64(fastest/2), float64(estimate.Error), 1, "the fastest exchange decides")
		moment := now.Add(offset)
		require.LessOrEqual(t, estimate.Local(moment).Sub(now).Abs(), estimate.Error+1)
	})
}

func TestAnOldExchangeSaysNothing(t *testing.T) {
	var clock Clock
	now := time.Now()
	clock.Note(now, now.Add(time.Millisecond), now)
	_, known := clock.Estimate(now.Add(recent + time.Second))
	require.False(t, known)
}

// A server that was slow once (a lock, a restart) is asked again at once: its runs need not fail until the next exchange is
// due. One that is slow again and again is asked with pauses, so that orders are followed all the same.
func TestASlowExchangeCountsAsNone(t *testing.T) {
	var clock Clock
	now := time.Now()
	clock.Note(now, now.Add(20*time.Second), now)
	now = now.Add(20 * time.Second)
	require.True(t, clock.WantsExchange(now))
	clock.Note(now, now.Add(100*time.Millisecond), now)
	now = now.Add(time.Second)
	require.False(t, clock.WantsExchange(now))
	estimate, known := clock.Estimate(now)
	require.True(t, known)
	require.LessOrEqual(t, estimate.Error, Tolerance)
	clock.Note(now, now.Add(20*time.Second), now)
	require.False(t, clock.WantsExchange(now.Add(20*time.Second)), "what is known still holds")

	var always Clock
	for range mostSlow {
		require.True(t, always.WantsExchange(now))
		always.Note(now, now.Add(5*time.Second), now)
		now = now.Add(5 * time.Second)
	}
	require.False(t, always.WantsExchange(now))
	require.True(t, always.WantsExchange(now.Add(slowPause)))
}

// An agent that has nothing to do for hours has its answers held: an estimate by them would be off by seconds.
func TestTheClockGoesByAnswersThatWereNotHeld(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked protocol.PollRequest
		require.NoError(t, json.NewDecoder(r.Body).Decode(&asked))
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"protocol": %d, "server_now": %q, "order": null}`, protocol.Version, time.Now().Format(time.RFC3339Nano))
	}))
	defer server.Close()
	client, err := NewClient(server.URL, "secret", "", "")
	require.NoError(t, err)
	_, err = client.Poll(t.Context(), protocol.PollRequest{WaitS: 0.2})
	require.NoError(t, err)
	require.True(t, client.Clock.WantsExchange(time.Now()))
	_, err = client.Poll(t.Context(), protocol.PollRequest{})
	require.NoError(t, err)
	before := time.Now()
	require.False(t, client.Clock.WantsExchange(before))
	want, known := client.Clock.Estimate(before)
	require.True(t, known)
	_, err = client.Poll(t.Context(), protocol.PollRequest{WaitS: 0.2})
	require.NoError(t, err)
	estimate, known := client.Clock.Estimate(before)
	require.True(t, known)
	require.Equal(t, want, estimate)
	require.True(t, client.Clock.WantsExchange(before.Add(recent-time.Minute)), "before the estimate is too old to be used")
}

func TestBackoffGrowsIsJitteredAndHeedsTheServer(t *testing.T) {
	b := &Backoff{First: time.Second, Max: 8 * time.Second}
	for _, span := range []time.Duration{1, 2, 4, 8, 8} {
		pause := b.Next(errors.New("down"))
		require.GreaterOrEqual(t, pause, span*time.Second/2)
		require.LessOrEqual(t, pause, span*time.Second)
	}
	require.GreaterOrEqual(t, b.Next(&StatusError{Status: 503, RetryAfter: time.Minute}), time.Minute)
	b.Reset()
	require.LessOrEqual(t, b.Next(nil), time.Second)
}

func TestAShutGateStopsCallsUnderWayAndHoldsNewOnes(t *testing.T) {
	g := NewGate()
	entered, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- g.Pass(t.Context(), func(ctx context.Context) error {
			close(entered)
			<-ctx.Done()
			return context.Cause(ctx)
		})
	}()
	<-entered
	g.Shut()
	require.ErrorIs(t, <-ended, errSilence)
	passed := make(chan struct{})
	go func() { _ = g.Pass(t.Context(), func(context.Context) error { close(passed); return nil }) }()
	select {
	case <-passed:
		require.Fail(t, "a shut gate let a call through")
	case <-time.After(20 * time.Millisecond):
	}
	g.Open()
	<-passed
}

func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := NewClient(server.URL+"/", "secret", "", "")
	require.NoError(t, err)
	return client
}

func TestAChunkCarriesItsDigestAndItsPlace(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && r.URL.Path == "/api/v1/agent/runs/run-1/traces/2/receiver/7" &&
			r.Header.Get("X-Attempt") == "1" && r.Header.Get("Authorization") == "Bearer secret" &&
			// SHA-256 of "abc", FIPS 180-4.
			r.Header.Get("X-Content-SHA256") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
			_, _ = w.Write([]byte(`{"stored": true}`))
			return
		}
		http.Error(w, "", http.StatusTeapot)
	})
	chunk := Chunk{RunRef: ref, Flow: 2, Point: "receiver", Sequence: 7, Body: []byte("abc")}
	require.NoError(t, client.PutChunk(t.Context(), chunk))
}

func TestAProblemIsToldInItsOwnWords(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusInsufficientStorage)
		_, _ = w.Write([]byte(`{"code": "disk_full", "message": "No room for chunks."}`))
	})
	err := client.PostEvent(t.Context(), "run-1", []byte("{}"))
	var status *StatusError
	require.ErrorAs(t, err, &status)
	require.Equal(t, 7*time.Second, status.RetryAfter)
	require.False(t, status.IsFinal())
	require.ErrorContains(t, err, "No room for chunks.")
}

func TestTheSecretIsNotCarriedToAnotherPlace(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://192.0.2.1/", http.StatusTemporaryRedirect)
	})
	_, err := client.Poll(t.Context(), protocol.PollRequest{})
	var status *StatusError
	require.ErrorAs(t, err, &status)
	require.Equal(t, http.StatusTemporaryRedirect, status.Status)
}

func TestAUsedEnrolmentTokenIsToldPlainly(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"code": "enrolment_wrong", "message": "This enrolment token is used."}`))
	})
	_, err := client.Join(t.Context(), protocol.JoinRequest{})
	require.ErrorContains(t, err, "This enrolment token is used.")
}

func TestAServerAddressOfAnotherKindIsRefused(t *testing.T) {
	_, err := NewClient("ftp://x", "", "", "")
	require.ErrorContains(t, err, "https://")
}

func TestTheServersCertificateIsCheckedAgainstTheGivenCA(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer server.Close()
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	stranger, err := NewClient(server.URL, "", "", "")
	require.NoError(t, err)
	require.ErrorContains(t, stranger.PostEvent(t.Context(), "r", nil), "join --ca-file FILE")
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(caFile, pemOf(server), 0o600))
	client, err := NewClient(server.URL, "", caFile, "")
	require.NoError(t, err)
	require.NoError(t, client.PostEvent(t.Context(), "r", nil))
}

func pemOf(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func TestAServerOfAnotherVersionIsNamed(t *testing.T) {
	for said, sentence := range map[string]string{
		``:              "the server speaks version 1 of the agent protocol and this agent version 2: upgrade the server",
		`"protocol":3,`: "the server speaks version 3 of the agent protocol and this agent version 2: upgrade this agent",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{` + said + `"server_now": "2026-01-02T03:04:05Z", "order": null}`))
		}))
		client, err := NewClient(server.URL, "secret", "", "")
		require.NoError(t, err)
		_, err = client.Poll(t.Context(), protocol.PollRequest{})
		require.ErrorContains(t, err, sentence)
		server.Close()
	}
}

// TestAServerThatAsksForYearsIsAskedAgainInMinutes: so many seconds are no duration any more, and gave a pause below zero.
func TestAServerThatAsksForYearsIsAskedAgainInMinutes(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "9223372037")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	_, err := client.Poll(t.Context(), protocol.PollRequest{})
	var status *StatusError
	require.ErrorAs(t, err, &status)
	require.Equal(t, 10*time.Minute, status.RetryAfter)
}

// TestAnEventFileWithoutAnEventIsSetAside: the server could take it for no run's, and it was sent again and again.
func TestAnEventFileWithoutAnEventIsSetAside(t *testing.T) {
	dir := t.TempDir()
	files := []string{"{}", `{"run_id": "r", "attempt": 1}`, `{"attempt": 1, "body": {}}`, "null"}
	for place, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%012d.json", place+1)), []byte(content), 0o600))
	}
	require.True(t, openOutbox(t, dir).IsEmpty())
	bad, err := filepath.Glob(filepath.Join(dir, "*.bad"))
	require.NoError(t, err)
	require.Len(t, bad, len(files))
}

// TestAServersClockThatIsSetIsFollowedAtOnce, also where exchanges from before were faster than all that come, and by answers
// that were held.
func TestAServersClockThatIsSetIsFollowedAtOnce(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour, 2 * time.Second} {
		start := time.Now()
		after := start.Add(time.Minute)
		clock := Clock{}
		clock.Note(start, start.Add(time.Millisecond), start)
		clock.Note(after, after.Add(time.Second), after.Add(step))
		estimate, known := clock.Estimate(after)
		require.True(t, known)
		require.LessOrEqual(t, (estimate.Offset - step).Abs(), estimate.Error, step)

		held := Clock{}
		held.Note(start, start.Add(time.Millisecond), start)
		held.Check(after, after.Add(time.Second), after.Add(time.Second))
		require.False(t, held.WantsExchange(after), "it was not set")
		held.Check(after, after.Add(time.Second), after.Add(step))
		require.True(t, held.WantsExchange(after), step)
	}
}

// A proxy as agent.yaml names it: the server's name is known to it alone.
func TestCallsGoThroughTheProxyThatIsNamed(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		w.WriteHeader(http.StatusNoContent)
	}))
	defer proxy.Close()
	client, err := NewClient("http://downlink.invalid", "secret", "", proxy.URL)
	require.NoError(t, err)
	require.NoError(t, client.PostEvent(t.Context(), "run", []byte("{}")))
	require.Equal(t, []string{"http://downlink.invalid/api/v1/agent/runs/run/events"}, asked)
	_, err = NewClient("http://downlink.invalid", "", "", "nonsense")
	require.ErrorContains(t, err, "http://HOST:PORT")
	t.Setenv("HTTPS_PROXY", "http://proxy.example:3128")
	t.Setenv("NO_PROXY", "near.example")
	require.Equal(t, []string{"", ""}, []string{ProxyFor("https://near.example"), ProxyFor("://")})
}
