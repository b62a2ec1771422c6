package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/config"
	"downlink/agents/internal/hosttest"
	"downlink/agents/internal/protocol"
)

// enrolling accepts one token.
func enrolling(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request protocol.JoinRequest
		if r.URL.Path == "/healthz" {
			return
		}
		if json.NewDecoder(r.Body).Decode(&request) != nil || request.Token != "dle_good" || request.Host.BootID == "" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"code": "enrolment_wrong", "message": "This enrolment token is used."}`))
			return
		}
		_ = json.NewEncoder(w).Encode(protocol.JoinResponse{AgentID: "id-1", Secret: "dla_1", ServerNow: protocol.Moment{Time: time.Now()}})
	}))
	t.Cleanup(server.Close)
	return server
}

func makeJoin(t *testing.T, server, token string) joinCmd {
	t.Helper()
	return joinCmd{Server: server, Token: token, Name: "viasat-client", Role: []string{"receiver"}, StateDir: filepath.Join(t.TempDir(), "state")}
}

func TestJoiningWritesConfigurationAndIdentity(t *testing.T) {
	hosttest.NeedRoot(t)
	join := makeJoin(t, enrolling(t).URL, "dle_good")
	require.NoError(t, join.Run(t.Context()))
	c, err := place{StateDir: join.StateDir}.load()
	require.NoError(t, err)
	require.Equal(t, "viasat-client", c.Name)
	require.Equal(t, "127.0.0.1", c.DataHost, "the address that leads to the server")
	identity, err := config.LoadIdentity(join.StateDir)
	require.NoError(t, err)
	require.Equal(t, config.Identity{AgentID: "id-1", Secret: "dla_1"}, identity)
	require.NoError(t, restoreCmd{place{StateDir: join.StateDir}}.Run(), "there is nothing to restore")
	require.NoError(t, doctorCmd{place{StateDir: join.StateDir}}.Run(t.Context()))
}

func TestARefusedTokenLeavesNoConfigurationBehind(t *testing.T) {
	join := makeJoin(t, enrolling(t).URL, "dle_used")
	require.ErrorContains(t, join.Run(t.Context()), "token is used")
	require.NoFileExists(t, filepath.Join(join.StateDir, config.FileName))
	_, err := place{StateDir: join.StateDir}.load()
	require.ErrorContains(t, err, "downlink-agent join")
}

func TestTheDoctorFindsWhatIsWrong(t *testing.T) {
	hosttest.NeedRoot(t)
	server := enrolling(t)
	join := makeJoin(t, server.URL, "dle_good")
	require.NoError(t, join.Run(t.Context()))
	require.NoError(t, os.WriteFile(filepath.Join(join.StateDir, "settings-journal.json"), []byte("{}"), 0o600))
	server.Close()
	err := doctorCmd{place{StateDir: join.StateDir}}.Run(t.Context())
	require.ErrorContains(t, err, "2 of 7 checks are bad", "settings left changed, and no server")
}
