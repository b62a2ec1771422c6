package emulate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// goldenFates are those of 100,000 packets each way, recorded before links could have more than one hop: whatever a link
// learns, a packet over these profiles meets the very fate that it met then.
var goldenFates = map[string]string{
	"geo-viasat":   "eccd59730087cc95be21036c32aa2945d27fe9977c5e1817ed39fdcb17e4aeaa",
	"leo-starlink": "bcbccb10493ab837f66571430e35fb3da7d661782f81d6401cc50186f4c43fbe",
	"terrestrial":  "1098f6662bb7e230372c9feb07c27b4b04863d33d9461c933e78c000d1b2bfab",
}

func TestLinksOfOneHopGiveEveryPacketTheFateItAlwaysHad(t *testing.T) {
	for name, digest := range goldenFates {
		t.Run(name, func(t *testing.T) { require.Equal(t, digest, fatesDigest(mustLoad(t, name))) })
	}
}

// fatesDigest is the SHA-256 of when and how each of 100,000 packets leaves either way, alternately under half of the
// nominal rate and over it by a half, so that queues fill and empty.
func fatesDigest(profile Profile) string {
	hash := sha256.New()
	network := New(profile, profile.Seed)
	for i, way := range network {
		share := []float64{1, 0.05}[i] // of a link's rate, that the way back carries
		packets := goldenPackets(uint64(i), share*profile.Facts.NominalRateBps)
		for j := range packets {
			way.Line.Step(packets[j].due, &packets[j], nil)
		}
		way.Line.Step(Never-1, nil, nil)
		for j := range packets {
			_ = binary.Write(hash, binary.LittleEndian, []int64{int64(packets[j].LeftAt), int64(packets[j].Lost)})
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// goldenPackets are due when they are to be sent.
func goldenPackets(stream uint64, bps float64) []Packet {
	rng := rand.New(rand.NewPCG(12, stream))
	packets, at := make([]Packet, 100_000), time.Duration(0)
	for i := range packets {
		load := 0.5 + float64(i/5000%2)
		packets[i] = Packet{SizeBytes: 40 + rng.IntN(1461), due: at}
		at += time.Duration(rng.ExpFloat64() * 770 * 8 / bps / load * 1e9)
	}
	return packets
}
