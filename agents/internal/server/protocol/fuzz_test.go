package protocol_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/server/protocol"
)

// FuzzPollResponse looks for an answer of a server that makes the agent panic, or an order without its run.
func FuzzPollResponse(f *testing.F) {
	golden, err := filepath.Glob("../../../../docs/protocol/order_*.json")
	if err != nil || len(golden) == 0 {
		f.Fatal("no golden orders", err)
	}
	for _, name := range golden {
		order, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(`{"protocol": 2, "server_now": "2026-01-01T00:00:00Z", "order": ` + string(order) + `}`))
		f.Add(order)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var response protocol.PollResponse
		if json.Unmarshal(data, &response) != nil || response.Order == nil {
			return
		}
		_ = response.Order.Ref()
		_, err := json.Marshal(response.Order)
		require.NoError(t, err)
	})
}
