package pump

import (
	"encoding/binary"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/linkserver"
	"downlink/agents/internal/server/linkcontrol"
	"downlink/agents/internal/testing/hosttest"
)

// socketLine is a pump between two ends in this process, and its control socket.
type socketLine struct {
	pump              *Pump
	path              string
	gateway, receiver int // the far ends of its devices
}

// upWithout builds a pump over pairs of sockets: no device, no privileges.
func upWithout(t *testing.T, profile emulate.Profile) socketLine {
	t.Helper()
	pair := func() (near, far int) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		t.Cleanup(func() { _, _ = unix.Close(fds[0]), unix.Close(fds[1]) })
		return fds[0], fds[1]
	}
	gateway, gatewayFar := pair()
	receiver, receiverFar := pair()
	p, err := Start(Options{Name: "test", Profile: profile, Seed: 99, Gateway: Device{gateway}, Receiver: Host{Device: Device{receiver}}})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "line.sock")
	server, err := linkserver.Listen(path, p)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.NoError(t, p.Stop())
	})
	return socketLine{p, path, gatewayFar, receiverFar}
}

// packetTo is a UDP packet over IPv4 to a port of the receiver.
func packetTo(port uint16, size int) []byte {
	packet := make([]byte, size)
	packet[0], packet[9] = 0x45, 17
	binary.BigEndian.PutUint16(packet[22:], port)
	return packet
}

type session struct {
	started linkcontrol.Started
	ended   linkcontrol.Ended
	rows    [][]int64
}

// column is one field of all rows.
func (s session) column(t *testing.T, name string) (values []int64) {
	t.Helper()
	at := slices.Index(s.started.Fields, name)
	require.GreaterOrEqual(t, at, 0, name)
	for _, row := range s.rows {
		values = append(values, row[at])
	}
	return values
}

// record restarts a line, loads it so long, and returns its log.
func record(t *testing.T, at socketLine, seed uint64, lasts time.Duration, load func()) (found session) {
	t.Helper()
	var client *linkcontrol.Client
	var err error
	// The link lets go of the session before this one once it has read that its socket is closed.
	require.Eventually(t, func() bool {
		client, err = linkcontrol.Open(t.Context(), at.path)
		return err == nil
	}, time.Minute, 5*time.Millisecond, "the link's control socket is not free")
	defer func() { _ = client.Close() }()
	zero := time.Now().Add(20 * time.Millisecond)
	found.started, err = client.Restart(zero, seed, nil)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		found.ended, err = client.Rows(len(found.started.Fields), 5*time.Second, func(row []int64) error {
			found.rows = append(found.rows, slices.Clone(row))
			return nil
		})
		ended <- err
	}()
	for until := zero.Add(lasts); time.Now().Before(until); time.Sleep(time.Millisecond) {
		load()
	}
	require.NoError(t, client.Stop())
	require.NoError(t, <-ended)
	return found
}

// stormy has every kind of chance, in times that a short test sees.
func stormy() emulate.Profile {
	return emulate.Profile{
		Name: "stormy",
		Down: emulate.Direction{
			Rate: emulate.Rate{Steps: &emulate.RateSteps{PeriodS: 0.1, LowBps: 2e6, HighBps: 8e6}}, Queue: emulate.Queue{LimitBytes: 30_000},
			Gap: &emulate.Gap{EveryS: 0.3, LengthMs: 40}, Loss: emulate.Loss{Outages: &emulate.Outages{MeanLengthMs: 4, MeanSpacingS: 0.05}},
			Delay: emulate.Delay{BaseMs: 20, Variations: []emulate.Variation{{HoldMs: 30, Uniform: &emulate.UniformMs{LowMs: 0, HighMs: 10}}}},
		},
		Up: emulate.Direction{
			Rate: emulate.Rate{ConstantBps: 1e6}, Queue: emulate.Queue{LimitBytes: 10_000}, Loss: emulate.Loss{IndependentRatio: 0.1},
			Delay: emulate.Delay{BaseMs: 20},
		},
	}
}

// weather are the fields that do not depend on what is carried.
var weather = []string{"elapsed_us", "down_rate_bps", "down_delay_us", "down_gap_us", "down_outage_us", "up_rate_bps", "up_delay_us"}

func TestRunsOfOneSeedMeetTheSameWeatherWhateverTheyCarry(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "needs a second's packets at their rate")
	at := upWithout(t, stormy())
	heavy := func() {
		for range 4 {
			_, _ = unix.Write(at.gateway, packetTo(5001, 1000))
		}
	}
	sent := 0
	light := func() {
		if sent++; sent%40 == 0 {
			_, _ = unix.Write(at.gateway, packetTo(5001, 100))
		}
	}
	one := record(t, at, 7, time.Second, heavy)
	other := record(t, at, 7, time.Second, light)
	different := record(t, at, 8, time.Second, light)
	require.Equal(t, one.started, other.started)
	require.NotEqual(t, one.started.PhaseUs, different.started.PhaseUs, "the slots of another cycle lie elsewhere")
	n := min(len(one.rows), len(other.rows), len(different.rows))
	require.Greater(t, n, 95)
	for _, name := range weather {
		require.Equal(t, one.column(t, name)[:n], other.column(t, name)[:n], name)
	}
	require.NotEqual(t, one.column(t, "down_rate_bps")[:n], different.column(t, "down_rate_bps")[:n])
	require.NotEqual(t, one.column(t, "down_outage_us")[:n], different.column(t, "down_outage_us")[:n])
	require.Greater(t, slices.Max(one.column(t, "down_outage_us")), int64(10_000), "outages between the looks are in the sum")
	last := n - 1
	require.Greater(t, one.column(t, "down_received_bytes")[last], 100*other.column(t, "down_received_bytes")[last], "and loads differed")
	require.Greater(t, one.column(t, "down_queue_full_bytes")[last], int64(0))
	require.Zero(t, other.column(t, "down_queue_full_bytes")[last])
}

func TestASessionsRowsConserveBytesAndItsLossesHaveFlows(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "needs a second's packets at their rate")
	at := upWithout(t, stormy())
	load := func() {
		for _, port := range []uint16{5001, 5002, 5002} {
			_, _ = unix.Write(at.gateway, packetTo(port, 800))
		}
		_, _ = unix.Write(at.receiver, packetTo(443, 60)) // its own port, the source, is 0 here
	}
	found := record(t, at, 3, time.Second, load)
	require.Equal(t, []int64{0, 10_000, 20_000}, found.column(t, "elapsed_us")[:3], "rows count from the moment of the restart")
	for _, way := range []string{"down", "up"} {
		received, accounted := found.column(t, way+"_received_bytes"), found.column(t, way+"_delivered_bytes")
		for _, field := range []string{"queued_bytes", "queue_full_bytes", "early_drop_bytes", "random_loss_bytes", "outage_bytes",
			"handover_bytes", "thinned_bytes"} {
			for i, value := range found.column(t, way+"_"+field) {
				accounted[i] += value
			}
		}
		require.Equal(t, received, accounted, way)
		require.Positive(t, received[len(received)-1])
	}
	lost := map[string]map[int]uint64{}
	for _, each := range found.ended.Lost {
		if lost[each.Way+" "+each.Cause] == nil {
			lost[each.Way+" "+each.Cause] = map[int]uint64{}
		}
		lost[each.Way+" "+each.Cause][each.ReceiverPort] = each.Packets
	}
	full := lost["down queue_full"]
	require.Greater(t, full[5001], uint64(100))
	require.Greater(t, full[5002], full[5001])
	require.Len(t, full, 2)
	require.Positive(t, lost["down outage"][5001])
	require.Positive(t, lost["up random_loss"][0])
	inRows := found.column(t, "down_queue_full_bytes")
	require.InDelta(t, float64(800*(full[5001]+full[5002])), float64(inRows[len(inRows)-1]), 800*30,
		"sums equal the rows but for the last moments")
}

func TestARestartLosesNothingThatWasInside(t *testing.T) {
	profile := stormy()
	profile.Down.Loss, profile.Down.Gap, profile.Down.Delay.BaseMs = emulate.Loss{}, nil, 1000
	at := upWithout(t, profile)
	for i := range 20 {
		_, err := unix.Write(at.gateway, packetTo(uint16(i), 1000))
		require.NoError(t, err)
	}
	counts := func() emulate.Counts { return at.pump.Counts(emulate.Gateway, emulate.Receiver) }
	require.Eventually(t, func() bool { return counts().Received == 20 }, time.Minute, time.Millisecond)
	require.Equal(t, 20, counts().Queued)
	found := record(t, at, 1, 50*time.Millisecond, func() {})
	require.Equal(t, 20, found.ended.DrainedPackets)
	require.Zero(t, slices.Max(found.column(t, "down_queued_bytes")), "a run finds the link empty")
	for i := range 20 {
		packet := make([]byte, 2000)
		require.Eventually(t, func() bool {
			n, err := unix.Read(at.receiver, packet)
			return err == nil && n == 1000
		}, time.Minute, time.Millisecond)
		require.Equal(t, uint16(i), binary.BigEndian.Uint16(packet[22:]), "in their order")
	}
	require.Eventually(t, func() bool {
		found := counts()
		return found.Delivered == 20 && found.Queued == 0
	}, time.Minute, time.Millisecond, "and the link's counts have them")
}

func TestOneSessionAtATimeAndItsOwnerAlone(t *testing.T) {
	at := upWithout(t, stormy())
	info, err := os.Stat(at.path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	first, err := linkcontrol.Open(t.Context(), at.path)
	require.NoError(t, err)
	require.Equal(t, linkcontrol.Link{Name: "test", Profile: "stormy"}, first.Link)
	_, err = linkcontrol.Open(t.Context(), at.path)
	require.ErrorIs(t, err, linkcontrol.ErrBusy)
	_, err = first.Restart(time.Now().Add(2*time.Minute), 1, nil)
	require.ErrorContains(t, err, "from 10s before now to 1m0s after it")
	require.NoError(t, first.Close())
	// An agent that is gone before its run begins keeps nobody waiting.
	gone, err := reopened(t, at)
	require.NoError(t, err)
	_, err = gone.Restart(time.Now().Add(50*time.Second), 1, nil)
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	next, err := reopened(t, at)
	require.NoError(t, err)
	require.NoError(t, next.Close())
}

// reopened waits until the session before has ended.
func reopened(t *testing.T, at socketLine) (client *linkcontrol.Client, err error) {
	t.Helper()
	require.Eventually(t, func() bool {
		client, err = linkcontrol.Open(t.Context(), at.path)
		return err == nil
	}, time.Minute, 5*time.Millisecond)
	return client, err
}

func TestALateRestartCountsFromItsMoment(t *testing.T) {
	at := upWithout(t, stormy())
	client, err := linkcontrol.Open(t.Context(), at.path)
	require.NoError(t, err)
	defer func() { _ = client.Close() }()
	started, err := client.Restart(time.Now().Add(-2*time.Second), 5, nil)
	require.NoError(t, err)
	require.NoError(t, client.Stop())
	rows := 0
	_, err = client.Rows(len(started.Fields), time.Second, func([]int64) error { rows++; return nil })
	require.NoError(t, err)
	require.GreaterOrEqual(t, rows, 200, "what the link was like since then is known all the same")
}

func TestFieldsOfTheLogEqualTheDocumentedList(t *testing.T) {
	file, err := os.Open("../../../../docs/link-fields.csv")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	lines, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	listed := []string{}
	for _, line := range lines[1:] {
		listed = append(listed, line[0])
	}
	require.Equal(t, listed, wayFields())
	profile := stormy()
	fresh, err := newCourse(profile, 1, nil, time.Now(), func() {})
	require.NoError(t, err)
	fields := fresh.Started().Fields
	require.Equal(t, "elapsed_us", fields[0])
	require.Equal(t, "down_"+listed[0], fields[1])
	require.Equal(t, "up_"+listed[len(listed)-1], fields[len(fields)-1])
	require.Len(t, fields, 1+2*len(listed))
}
