package protocol_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/server/protocol"
)

const goldenDir = "../../../../docs/protocol"

// targets names the Go type of every golden message; a file without one fails the test.
var targets = map[string]func() any{
	"chunk_header.json":           func() any { return &chunk.Header{} },
	"chunks_answer.json":          func() any { return &protocol.ChunksReply{} },
	"event_failed.json":           func() any { return &protocol.Failed{} },
	"event_failed_recorded.json":  func() any { return &protocol.Failed{} },
	"event_finished.json":         func() any { return &protocol.Finished{} },
	"event_finished_intcp.json":   func() any { return &protocol.Finished{} },
	"event_ready.json":            func() any { return &protocol.Ready{} },
	"event_restored.json":         func() any { return &protocol.Restored{} },
	"event_restored_aborted.json": func() any { return &protocol.Restored{} },
	"event_uploaded.json":         func() any { return &protocol.Uploaded{} },
	"join_request.json":           func() any { return &protocol.JoinRequest{} },
	"join_request_relay.json":     func() any { return &protocol.JoinRequest{} },
	"join_response.json":          func() any { return &protocol.JoinResponse{} },
	"observations_answer.json":    func() any { return &protocol.ObservationsReply{} },
	"observations_hold.json":      func() any { return &protocol.ObservationsHold{} },
	"observations_request.json":   func() any { return &protocol.ObservationsRequest{} },
	"order_abort.json":            func() any { return &protocol.PollResponse{} },
	"order_discard.json":          func() any { return &protocol.PollResponse{} },
	"order_go.json":               func() any { return &protocol.PollResponse{} },
	"order_prepare.json":          func() any { return &protocol.PollResponse{} },
	"order_prepare_intcp.json":    func() any { return &protocol.PollResponse{} },
	"order_prepare_relay.json":    func() any { return &protocol.PollResponse{} },
	"order_upload.json":           func() any { return &protocol.PollResponse{} },
	"poll_request.json":           func() any { return &protocol.PollRequest{} },
	"poll_request_refused.json":   func() any { return &protocol.PollRequest{} },
	"poll_request_uploading.json": func() any { return &protocol.PollRequest{} },
	"poll_response_hold.json":     func() any { return &protocol.PollResponse{} },
	"poll_response_idle.json":     func() any { return &protocol.PollResponse{} },
}

func TestGoldenMessagesSurviveDecodeAndEncode(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(goldenDir, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			golden, err := os.ReadFile(file)
			require.NoError(t, err)
			target, known := targets[filepath.Base(file)]
			require.True(t, known, "no Go type is named for this message")
			message := target()
			decoder := json.NewDecoder(bytes.NewReader(golden))
			decoder.DisallowUnknownFields()
			require.NoError(t, decoder.Decode(message))
			encoded, err := json.Marshal(message)
			require.NoError(t, err)
			require.JSONEq(t, string(golden), string(encoded))
		})
	}
}

func TestAnUnknownOrderIsAnError(t *testing.T) {
	var response protocol.PollResponse
	err := json.Unmarshal([]byte(`{"protocol":2,"server_now":"2026-01-02T03:04:05Z","order":{"kind":"dance","run_id":"x","attempt":1}}`),
		&response)
	require.ErrorContains(t, err, "dance")
}

func TestOrdersOfAnotherVersionAreNotRead(t *testing.T) {
	for _, head := range []string{``, `"protocol":1,`, `"protocol":3,`} {
		var response protocol.PollResponse
		err := json.Unmarshal([]byte(`{`+head+`"server_now":"2026-01-02T03:04:05Z","order":{"kind":"dance","run_id":"x","attempt":1}}`),
			&response)
		require.NoError(t, err)
		require.Nil(t, response.Order)
	}
}
