package linkserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/server/linkcontrol"
	"downlink/agents/internal/testing/fuzztest"
)

func lines(t testing.TB, messages ...any) (text []byte) {
	for _, message := range messages {
		line, err := json.Marshal(message)
		require.NoError(t, err)
		text = append(append(text, line...), '\n')
	}
	return text
}

// FuzzRequests looks for what an agent may say that makes a link panic, or begin what was not asked for.
func FuzzRequests(f *testing.F) {
	fuzztest.Add(f, lines(f, linkcontrol.Request{Restart: &linkcontrol.Restart{AtUnixUs: 1, Seed: 7,
		Window: &linkcontrol.Window{Number: 1, Of: 4, LastsUs: 1000}}}),
		lines(f, linkcontrol.Request{Begin: &linkcontrol.RelayPlan{}}),
		lines(f, linkcontrol.Request{Ask: &linkcontrol.RelayHop{Number: 1, Peer: "10.0.0.1:5"}, RowsFromUnixUs: 5}),
		lines(f, linkcontrol.Request{Stop: true}))
	f.Fuzz(func(t *testing.T, said []byte) {
		if _, err := next(bufio.NewReaderSize(bytes.NewReader(said), maxRequest)); err == nil {
			require.Contains(t, string(said), "\n")
		}
	})
}
