package intcp

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
	"time"
)

// addGolden seeds a fuzz target with the golden packets of each kind.
func addGolden(f *testing.F) {
	content, err := os.ReadFile("../../../docs/protocol/intcp/packets.json")
	if err != nil {
		f.Fatal(err)
	}
	var golden any
	if err := json.Unmarshal(content, &golden); err != nil {
		f.Fatal(err)
	}
	added := 0
	walk(golden, func(text string) {
		if b, err := hex.DecodeString(text); err == nil && len(b) >= refusedBytes && b[0] == Version {
			f.Add(b)
			added++
		}
	})
	if added < 6 {
		f.Fatalf("%d golden packets, and there are six kinds", added)
	}
}

func walk(value any, visit func(text string)) {
	switch value := value.(type) {
	case string:
		visit(value)
	case []any:
		for _, each := range value {
			walk(each, visit)
		}
	case map[string]any:
		for _, each := range value {
			walk(each, visit)
		}
	}
}

// FuzzDecoders: what a decoder takes, its writer gives back; nothing else is taken, and nothing above the packet is kept.
func FuzzDecoders(f *testing.F) {
	addGolden(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHead(b)
		if err != nil {
			return
		}
		again := make([]byte, len(b))
		tag := len(b) - tagBytes
		switch h.kind {
		case kindOpen:
			p := parseOpen(h, b)
			p.put(again)
			requireSame(t, b, again, 72)
		case kindOpened:
			p := parseOpened(h, b)
			p.put(again)
			copy(again[28:32], b[28:32])
			requireSame(t, b, again, tag)
		case kindRefused:
			p := parseRefused(h, b)
			p.put(again)
			copy(again[18:20], b[18:20])
			requireSame(t, b, again, tag)
		case kindClose:
			p := parseClosing(h, b)
			p.put(again)
			copy(again[18:20], b[18:20])
			requireSame(t, b, again, tag)
		case kindInterest:
			var p interest
			if p.parse(h, b) != nil {
				return
			}
			if size := p.size(); size > MaxInterestBytes || cap(p.ranges)*rangeBytes+cap(p.losts)*lostBytes > 16*len(b) {
				t.Fatalf("%d bytes became %d ranges and %d runs", len(b), cap(p.ranges), cap(p.losts))
			}
			p.put(again)
			again[31] = b[31]
			requireSame(t, b, again, interestFixedBytes+len(p.ranges)*rangeBytes+len(p.losts)*lostBytes)
		case kindData:
			p, err := parseData(h, b)
			if err != nil {
				return
			}
			p.put(again, len(p.payload))
			requireSame(t, b, again, dataBytes-tagBytes)
		}
	})
}

func requireSame(t *testing.T, want, got []byte, until int) {
	t.Helper()
	if !bytes.Equal(want[:until], got[:until]) {
		t.Fatalf("kind %d is another one when it is written again:\n%x\n%x", want[1], want[:until], got[:until])
	}
}

// FuzzStates throws mutated packets of a run at each of its nodes: nobody panics, answers more than it was sent, or is kept
// from carrying the run to its end. Seeds are the packets of a real run.
func FuzzStates(f *testing.F) {
	addGolden(f)
	seed := newChain(f, 1, DefaultOptions(), 60_000, link(20e6, 4*ms, 0), link(20e6, 4*ms, 0))
	for i, d := range recordTransfer(f, seed, time.Second) {
		if i%5 == 0 {
			f.Add(d.bytes)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := newChain(t, 1, DefaultOptions(), 60_000, link(20e6, 4*ms, 0), link(20e6, 4*ms, 0))
		for range 4 {
			c.run(c.now+6*ms, c.done)
			for node := range c.nodes {
				for from := range c.nodes { // as if a neighbour had sent it, and as a stranger
					c.spoof(node, addressOf(from), b)
				}
				if sent := c.spoof(node, addressOf(4444), b); sent > len(b) {
					t.Fatalf("%d bytes answered with %d", len(b), sent)
				}
			}
		}
		c.run(60*time.Second, c.done)
		state, _ := c.consumer.State()
		if state == "" {
			t.Fatal("the run has no end")
		}
	})
}
