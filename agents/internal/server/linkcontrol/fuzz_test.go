package linkcontrol

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/testing/fuzztest"
)

// heard is a connection on which the other side has said this much, and then nothing more.
type heard struct {
	net.Conn
	said *bytes.Reader
}

func hear(said []byte) heard { return heard{said: bytes.NewReader(said)} }

func (h heard) Read(into []byte) (int, error)  { return h.said.Read(into) }
func (heard) Write(text []byte) (int, error)   { return len(text), nil }
func (heard) Close() error                     { return nil }
func (heard) SetReadDeadline(time.Time) error  { return nil }
func (heard) SetWriteDeadline(time.Time) error { return nil }

func lines(t testing.TB, messages ...any) (text []byte) {
	for _, message := range messages {
		line, err := json.Marshal(message)
		require.NoError(t, err)
		text = append(append(text, line...), '\n')
	}
	return text
}

// FuzzAnswers looks for what a link may say that makes an agent panic, or wait for ever.
func FuzzAnswers(f *testing.F) {
	fuzztest.Add(f,
		lines(f, Answer{Link: &Link{Name: "geo", Profile: "geo-viasat", PathTrace: &PathTrace{"pole", 60e6}}},
			Answer{Started: &Started{Fields: []string{"elapsed_us", "queue"}}}, Answer{Row: []int64{1, 2}}, Answer{Ended: &Ended{Rows: 1}}),
		lines(f, Answer{Sites: &Sites{}}, Answer{Begun: "10.0.0.1:5"}, Answer{Asked: true}, Answer{Seen: []RelaySeen{{Sites: 2}}},
			Answer{Rows: &SiteRows{Rows: make([]SiteRow, 3)}}, Answer{Gone: true}),
		lines(f, Answer{Busy: true, Link: &Link{Name: "geo"}}), lines(f, Answer{Error: "no"}))
	f.Fuzz(func(_ *testing.T, said []byte) {
		client := func() *Client { conn := hear(said); return &Client{conn: conn, lines: bufio.NewReader(conn)} }
		_, _ = client().Rows(2, time.Second, func([]int64) error { return nil })
		_, _ = client().Restart(time.Now(), 1, nil)
		plan := RelayPlan{Contents: []intcp.Name{{1}, {2}}}
		relays := &RelayClient{conn: hear(nil), contents: plan.Contents, done: make(chan struct{}), asked: make(chan error, 1),
			seen: map[intcp.Name]RelaySeen{}, readers: map[intcp.Name][]*RowReader{}}
		reader := relays.ReadRows(plan.Contents[0])
		_ = relays.begin(client(), plan)
		relays.listen(client())
		_, _, _ = reader.Take()
	})
}
