package emulate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// forked is a link with further receivers in virtual time. What has left is by branch; 0 is the receiver at the end, and
// gateway what came up.
type forked struct {
	circuit *Circuit
	network Network
	fork    *Fork
	left    map[int][]*Packet
	gateway []*Packet
	lost    int
	now     time.Duration
}

func newForked(profile Profile, seed uint64) *forked {
	f := &forked{network: New(profile, seed), left: map[int][]*Packet{}}
	f.fork = NewFork(profile, func(branch int, _ bool, p *Packet) { f.note(branch, p) })
	f.circuit = NewCircuit(profile, f.network, f.fork, 0)
	f.fork.Begin(seed, 0)
	f.fork.Fly(0, f.circuit.Places)
	return f
}

func (f *forked) note(branch int, p *Packet) {
	if p.Lost != NotLost {
		f.lost++
		return
	}
	f.left[branch] = append(f.left[branch], p)
}

func (f *forked) leave(isUp bool, out []*Packet) {
	for _, p := range out {
		if isUp && p.Lost == NotLost {
			f.gateway = append(f.gateway, p)
		} else {
			f.note(0, p)
		}
	}
}

func forkedProfile(lossRatio float64, shares ...float64) Profile {
	way := func(ms float64) Direction {
		return Direction{Rate: Rate{ConstantBps: 12e6}, Queue: Queue{LimitBytes: 150_000}, Delay: Delay{BaseMs: ms},
			Loss: Loss{IndependentRatio: lossRatio}}
	}
	profile := Profile{Name: "forked", Orbit: "LEO"}
	for range 4 {
		profile.Hops = append(profile.Hops, Hop{Down: way(10), Up: way(10)})
	}
	for _, share := range shares {
		profile.Receivers = append(profile.Receivers, Branch{At: share, Down: way(1), Up: way(1)})
	}
	return profile
}

// TestPacketsTakeTheirBranch: 1,500 bytes at 12 Mb/s are 1 ms on each hop, and a router takes no time.
func TestPacketsTakeTheirBranch(t *testing.T) {
	f := newForked(forkedProfile(0, 0, 0.5, 1), 1)
	for branch := range 4 {
		f.circuit.Enter(0, false, &Packet{SizeBytes: 1500, Branch: branch, StopsAtSites: branch > 0}, f.leave)
	}
	for wake := time.Duration(0); wake < time.Second; {
		f.now, wake = wake, f.circuit.Run(wake, f.leave)
	}
	for branch, hops := range map[int]int{0: 4, 1: 1, 2: 2, 3: 3} {
		require.Len(t, f.left[branch], 1)
		waited := time.Duration(1+branch) * time.Millisecond // behind those before it at the first hop
		if branch == 0 {
			require.Equal(t, waited+4*10*time.Millisecond+3*time.Millisecond, f.left[0][0].LeftAt)
			continue
		}
		way := time.Duration(hops)*10*time.Millisecond + time.Duration(hops-1)*time.Millisecond
		require.Equal(t, waited+way+2*time.Millisecond, f.left[branch][0].LeftAt, "branch %d", branch)
	}
}

func TestWhatComesByABranchGoesToTheGateway(t *testing.T) {
	f := newForked(forkedProfile(0, 0.5), 1)
	f.fork.Enter(0, 1, &Packet{SizeBytes: 1500})
	for wake := time.Duration(0); wake < time.Second; {
		wake = f.circuit.Run(wake, f.leave)
	}
	require.Len(t, f.gateway, 1)
	require.Equal(t, 2*time.Millisecond+2*11*time.Millisecond, f.gateway[0].LeftAt)
	_, up := f.fork.Counts(1)
	require.EqualValues(t, 1, up.Delivered)
}

// TestPacketsToTheEndMeetTheSameFates: as on the link without further receivers, whatever those get and lose.
func TestPacketsToTheEndMeetTheSameFates(t *testing.T) {
	fates := func(profile Profile, others bool) (all []Packet, f *forked) {
		f = newForked(profile, 7)
		sent := make([]*Packet, 2000)
		for i := range sent {
			at := time.Duration(i) * 2 * time.Millisecond
			sent[i] = &Packet{SizeBytes: 1500}
			f.circuit.Enter(at, false, sent[i], f.leave)
			if others && i%2 == 0 {
				f.fork.Enter(at, 1, &Packet{SizeBytes: 100})
			}
		}
		f.circuit.Run(time.Minute, f.leave)
		for _, p := range sent {
			all = append(all, Packet{Lost: p.Lost, LeftAt: p.LeftAt})
		}
		return all, f
	}
	plain := New(forkedProfile(0.02), 7).Line(Gateway, Receiver)
	var expected []Packet
	packets := make([]Packet, 2000)
	for i := range packets {
		packets[i].SizeBytes = 1500
		plain.Step(time.Duration(i)*2*time.Millisecond, &packets[i], nil)
	}
	plain.Step(time.Minute, nil, nil)
	for i := range packets {
		expected = append(expected, Packet{Lost: packets[i].Lost, LeftAt: packets[i].LeftAt})
	}
	got, f := fates(forkedProfile(0.02, 0.5), true)
	require.Equal(t, expected, got)
	_, up := f.fork.Counts(1)
	require.Equal(t, up.Received, up.Delivered+up.Lost[RandomLoss])
	require.Positive(t, up.Lost[RandomLoss])
	all := f.network.Line(Receiver, Gateway).Counts()
	require.Equal(t, up.Delivered, all.Given)
	require.Equal(t, all.Given, all.Delivered+all.Lost[RandomLoss])
}

// TestACourseThatBeginsLosesNothingOnABranch: what is on it leaves by the old one.
func TestACourseThatBeginsLosesNothingOnABranch(t *testing.T) {
	f := newForked(forkedProfile(0, 0.5), 1)
	f.fork.Enter(0, 1, &Packet{SizeBytes: 1500})
	f.fork.Begin(2, time.Millisecond)
	for wake := time.Duration(0); wake < time.Second; {
		wake = f.circuit.Run(wake, f.leave)
	}
	require.Len(t, f.gateway, 1)
}

func TestReceiversNeedAPlaceToHang(t *testing.T) {
	const hop = "{down: {rate: {constant_bps: 20000000}, queue: {limit_bytes: 1500000}}, up: {rate: {constant_bps: 20000000}, queue: " +
		"{limit_bytes: 1500000}}}"
	const head, facts = "name: forked\norbit: LEO\n", "\nfacts: {base_rtt_ms: 100, nominal_rate_bps: 20000000}\n"
	_, err := parseProfile("one", []byte(head+"hops: ["+hop+"]\nreceivers: [{at: 0.5, "+hop[1:]+"]"+facts), nil)
	require.ErrorContains(t, err, "no place between two hops")
	_, err = parseProfile("two", []byte(head+"hops: ["+hop+", "+hop+"]\nreceivers: [{at: 1.5, "+hop[1:]+"]"+facts), nil)
	require.ErrorContains(t, err, "receivers[0].at must be from 0 to 1, not 1.5")
	profile, err := parseProfile("two", []byte(head+"hops: ["+hop+", "+hop+"]\nreceivers: [{at: 0.5, "+hop[1:]+"]"+facts), nil)
	require.NoError(t, err)
	require.Len(t, profile.Receivers, 1)
}
