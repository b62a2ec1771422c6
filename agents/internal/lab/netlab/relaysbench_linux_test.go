package netlab

import (
	"fmt"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/intcp/intcpsocket"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/testing/hosttest"
)

var (
	relayBenchTime = hosttest.Size(5*time.Second, 500*time.Millisecond)
	relaySettling  = hosttest.Size(2*time.Second, 500*time.Millisecond)
)

// fifteenHops is a path as from Beijing to New York.
func fifteenHops(bps float64) emulate.Profile {
	hops := make([]emulate.Hop, 15)
	for i := range hops {
		hops[i] = stillHop(bps, 3.2, 0)
	}
	hops[0], hops[14] = stillHop(bps, 5, 0), stillHop(bps, 5, 0)
	profile := stillHops(hops...)
	profile.Facts.NominalRateBps = bps
	return profile
}

// BenchmarkRelays carries INTCP over fifteen hops with a relay between each two of them, and over one hop without.
func BenchmarkRelays(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // this process is both ends as well
	for b.Loop() {
		one := benchRelays(b, direct(b, "one", benchProfile(20e6, 50)))
		many := benchRelays(b, benched(relayed(b, "many", fifteenHops(20e6))))
		hosttest.Row{
			Name: "emulator, 15 hops and 14 relays at 20 Mb/s", Value: many.core, Unit: "cores", Goal: "<= 0.15",
			Remark: fmt.Sprintf("%.1f Mb/s of payload; one hop without relays %.3f cores for %.1f Mb/s", many.bps/1e6, one.core, one.bps/1e6),
		}.Print()
		hosttest.Row{
			Name: "the same, added delay above one hop's, p99", Value: float64(many.late-one.late) / 1e6, Unit: "ms", Goal: "<= 0.3",
			Remark: fmt.Sprintf("%.3f ms with relays, %.3f ms over one hop", float64(many.late)/1e6, float64(one.late)/1e6),
		}.Print()
		fast := benchRelays(b, benched(relayed(b, "fast", fifteenHops(300e6))))
		hosttest.Row{
			Name: "emulator, 15 hops and 14 relays at 300 Mb/s", Value: fast.bps / 1e6, Unit: "Mb/s", Goal: ">= 270",
			Remark: fmt.Sprintf("payload; with %.2f cores for the link, and both ends beside it on this machine", fast.core),
		}.Print()
	}
}

type benchedLink struct {
	*flight
	lab *Lab
}

func benched(l *relayedLink) benchedLink { return benchedLink{&l.flight, l.lab} }

// direct is a flow whose receiver asks its sender over the whole link.
func direct(b *testing.B, suffix string, profile emulate.Profile) benchedLink {
	lab, link := benchLab(b, suffix, profile)
	f := &flight{t: b, sender: open(b, link.Hosts["sender-1"], 1, false), receiver: open(b, link.Hosts[Receiver], 0, true)}
	ask(b, f.receiver, 1, f.sender.Local())
	return benchedLink{f, lab}
}

type relayFigures struct {
	core, bps float64
	late      time.Duration // p99
}

func benchRelays(b *testing.B, l benchedLink) (found relayFigures) {
	l.begin()
	l.over(relaySettling)
	var late []time.Duration
	require.NoError(b, l.lab.pump.Note(nil, func(d time.Duration) { late = append(late, d) }))
	before := busy(b, l.lab.pump)
	found.bps = l.over(relayBenchTime)
	found.core = (busy(b, l.lab.pump) - before).Seconds() / relayBenchTime.Seconds()
	require.NoError(b, l.lab.pump.Note(nil, nil))
	slices.Sort(late)
	found.late = late[len(late)*99/100]
	for _, home := range []*intcpsocket.Home{l.receiver, l.sender} {
		require.NoError(b, home.Close())
	}
	return found
}
