package intcp

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

const goldenFile = "../../../docs/protocol/intcp/packets.json"

// golden is a packet of docs/protocol/intcp: as bytes, and as what a decoder says of it.
type golden struct {
	Name   string         `json:"name"`
	Key    string         `json:"key"`
	Nonce  []uint32       `json:"nonce"` // direction, salt, sequence
	Packet string         `json:"packet"`
	Fields map[string]any `json:"fields"`
}

var goldenKey = Key{0: 0x10, 15: 0x1f}

func sealed(b []byte, direction, salt, sequence uint32) []byte {
	newSealer(goldenKey).seal(direction, salt, sequence, b, authentic(kind(b[1]), len(b)))
	return b
}

func goldenHead(k kind, flags uint16) head {
	return head{kind: k, flags: flags, flow: 3, sequence: 41, sentUs: 1_000_001}
}

func goldens() (all []golden) {
	add := func(name string, direction, salt uint32, b []byte, fields map[string]any) {
		fields["kind"], fields["flow"], fields["sequence"], fields["sent_us"] = b[1], 3, 41, 1_000_001
		b = sealed(b, direction, salt, 41)
		all = append(all, golden{name, hex.EncodeToString(goldenKey[:]), []uint32{direction, salt, 41}, hex.EncodeToString(b), fields})
	}
	o := open{
		head: goldenHead(kindOpen, flagCookie), run: 1 << 40, hop: 2, unitBytes: 1400, salt: 77,
		cookie: cookie{0: 0xaa, 15: 0xbb}, name: testName, length: 5_000_001,
	}
	b := make([]byte, OpenBytes)
	o.put(b)
	add("open", upstream, 77, b, map[string]any{
		"flags": flagCookie, "run": 1 << 40, "hop": 2, "unit_bytes": 1400, "salt": 77, "cookie": hex.EncodeToString(o.cookie[:]),
		"name": hex.EncodeToString(testName[:]), "length": 5_000_001,
	})
	b = make([]byte, openedBytes)
	(&opened{head: goldenHead(kindOpened, flagCookie), salt: 88, yours: 77, echoUs: 999_000, cookie: o.cookie}).put(b)
	add("opened", stateless, 88, b, map[string]any{
		"flags": flagCookie, "salt": 88, "yours": 77, "echo_us": 999_000, "cookie": hex.EncodeToString(o.cookie[:]),
	})
	b = make([]byte, refusedBytes)
	(&refused{goldenHead(kindRefused, 0), ReasonTooManyFlows, 88}).put(b)
	add("refused", downstream, 88, b, map[string]any{"flags": 0, "reason": ReasonTooManyFlows, "salt": 88})
	i := interest{
		head: goldenHead(kindInterest, flagEcho|flagAgain), rateKbps: 20_000, highest: 900, echoUs: 7, ttl: 255,
		ranges: []byteRange{{1400, 2800}, {1 << 33, 1400}}, losts: []lostRun{{850, 3}},
	}
	b = make([]byte, i.size())
	i.put(b)
	add("interest", upstream, 77, b, map[string]any{
		"flags": flagEcho | flagAgain, "rate_kbps": 20_000, "highest": 900, "echo_us": 7, "ttl": 255,
		"ranges": [][]int{{1400, 2800}, {1 << 33, 1400}}, "losts": [][]int{{850, 3}},
	})
	empty := interest{head: goldenHead(kindInterest, 0), rateKbps: 100, ttl: 1}
	b = make([]byte, empty.size())
	empty.put(b)
	add("interest without ranges", upstream, 77, b, map[string]any{
		"flags": 0, "rate_kbps": 100, "highest": 0, "echo_us": 0, "ttl": 1, "ranges": [][]int{}, "losts": [][]int{},
	})
	d := data{
		head: goldenHead(kindData, flagEcho|flagResent), offset: 2800, waiting: 5, echoUs: 12, interestHighest: 30, interestBits: 0x80000001,
	}
	b = make([]byte, dataBytes+16)
	d.put(b, 16)
	Stream{Seed: 1}.Read(2800, b[dataBytes:])
	add("data", downstream, 88, b, map[string]any{
		"flags": flagEcho | flagResent, "offset": 2800, "length": 16, "waiting": 5, "echo_us": 12, "interest_highest": 30,
		"interest_bits": 0x80000001, "stream_seed": 1,
	})
	way := data{head: goldenHead(kindData, flagEcho|flagQueueEmpty), offset: 105_961, echoUs: 12, interestHighest: 30, interestBits: 1}
	b = make([]byte, dataBytes)
	way.put(b, 0)
	add("data that tells the way", downstream, 88, b, map[string]any{
		"flags": flagEcho | flagQueueEmpty, "offset": 105_961, "length": 0, "waiting": 0, "echo_us": 12, "interest_highest": 30,
		"interest_bits": 1, "stream_seed": 1,
	})
	b = make([]byte, closeBytes)
	(&closing{goldenHead(kindClose, 0), ReasonDone, 3572, 12, 5_000_001}).put(b)
	add("close", upstream, 77, b, map[string]any{"flags": 0, "reason": ReasonDone, "units": 3572, "again": 12, "bytes": 5_000_001})
	return all
}

// TestGoldenPackets compares with docs/protocol/intcp; RECORD_PACKETS=1 writes them.
func TestGoldenPackets(t *testing.T) {
	text, err := json.MarshalIndent(goldens(), "", "  ")
	require.NoError(t, err)
	if os.Getenv("RECORD_PACKETS") != "" {
		require.NoError(t, os.WriteFile(goldenFile, append(text, '\n'), 0o644))
	}
	recorded, err := os.ReadFile(goldenFile)
	require.NoError(t, err)
	require.JSONEq(t, string(recorded), string(text))
}

func TestGoldenPacketsAreDecodedAndEncodedAgain(t *testing.T) {
	for _, g := range goldens() {
		b, err := hex.DecodeString(g.Packet)
		require.NoError(t, err)
		again := make([]byte, len(b))
		h, err := parseHead(b)
		require.NoError(t, err)
		reencode(t, h, b, again)
		covered := authentic(h.kind, len(b))
		require.Equal(t, b[:covered], again[:covered], g.Name)
		s := newSealer(goldenKey)
		require.True(t, s.holds(g.Nonce[0], g.Nonce[1], g.Nonce[2], b, covered), g.Name)
		for i := range covered + tagBytes {
			b[i] ^= 1
			require.False(t, s.holds(g.Nonce[0], g.Nonce[1], g.Nonce[2], b, covered), "%s, byte %d", g.Name, i)
			b[i] ^= 1
		}
	}
}

// reencode decodes a packet whose head is sound, and encodes what the decoder took.
func reencode(t testing.TB, h head, b, again []byte) bool {
	switch h.kind {
	case kindOpen:
		p := parseOpen(h, b)
		p.put(again)
	case kindOpened:
		p := parseOpened(h, b)
		p.put(again)
	case kindRefused:
		p := parseRefused(h, b)
		p.put(again)
	case kindInterest:
		var p interest
		if p.parse(h, b) != nil {
			return false
		}
		require.Equal(t, len(b), p.size())
		p.put(again)
	case kindData:
		p, err := parseData(h, b)
		if err != nil {
			return false
		}
		p.put(again, len(p.payload))
	case kindClose:
		p := parseClosing(h, b)
		p.put(again)
	}
	return true
}

func FuzzDecoder(f *testing.F) {
	for _, g := range goldens() {
		b, _ := hex.DecodeString(g.Packet)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHead(b)
		if err != nil {
			return
		}
		if len(b) > MaxDatagramBytes {
			t.Fatal("a datagram that is too long was taken")
		}
		again := make([]byte, len(b))
		if reencode(t, h, b, again) {
			h2, err := parseHead(again)
			if err != nil || h2 != h {
				t.Fatalf("%v became %v: %v", h, h2, err)
			}
		}
	})
}

// FuzzNode gives mutated packets to a relay in the midst of a transfer: no panic, and no more bytes out than in.
func FuzzNode(f *testing.F) {
	for _, g := range goldens() {
		b, _ := hex.DecodeString(g.Packet)
		f.Add(b, uint8(0))
		f.Add(b, uint8(2))
	}
	f.Fuzz(func(t *testing.T, b []byte, from uint8) {
		c := newChain(t, 1, DefaultOptions(), 100_000, link(20e6, 20*ms, 0), link(20e6, 20*ms, 0))
		c.run(150*ms, c.done)
		var out Outbox
		if b == nil {
			b = []byte{}
		}
		c.nodes[1].receive(c.now, addressOf(int(from)), b, &out)
		sent := 0
		for _, d := range out.Datagrams {
			sent += len(d.Bytes)
		}
		require.LessOrEqual(t, sent, len(b))
	})
}
