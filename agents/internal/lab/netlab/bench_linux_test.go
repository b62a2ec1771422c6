package netlab

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"gopkg.in/yaml.v3"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/measure"
	"downlink/agents/internal/lab/pump"
	"downlink/agents/internal/testing/hosttest"
)

// benchProfile is a link without chance: what it adds beyond its constant delay and rate is the emulator's own doing.
func benchProfile(bps, delayMs float64) emulate.Profile {
	way := emulate.Direction{
		Rate:  emulate.Rate{ConstantBps: bps},
		Queue: emulate.Queue{LimitBytes: 4_000_000},
		Delay: emulate.Delay{BaseMs: delayMs},
	}
	facts := emulate.Facts{NominalRateBps: bps, BaseRttMs: 2 * delayMs}
	return emulate.Profile{Name: "bench", Orbit: "terrestrial", Down: way, Up: way, Facts: facts}
}

func benchLab(b *testing.B, suffix string, profile emulate.Profile) (*Lab, Found) {
	hosttest.NeedRoot(b)
	lab, err := Up(Options{Name: testName(suffix), Profile: profile, Senders: 1})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, lab.Close()) })
	link, err := Find(lab.Name)
	require.NoError(b, err)
	return lab, link
}

// BenchmarkThroughput is how much TCP one pump, a single thread, carries when the link itself sets no limit.
func BenchmarkThroughput(b *testing.B) {
	lab, link := benchLab(b, "rate", benchProfile(1e10, 1))
	require.NoError(b, GrantBuffers(link, 16_000_000))
	rounds, lasting := hosttest.Size(5, 1), hosttest.Size(2*time.Second, 500*time.Millisecond)
	for b.Loop() {
		var perCore, carried []float64
		for range rounds {
			before, busyBefore, began := deliveredBytes(lab), busy(b, lab.pump), time.Now()
			_, err := measure.Load(b.Context(), link.Hosts[Receiver], link.Hosts["sender-1"], lasting)
			require.NoError(b, err)
			gigabits := 8e-9 * float64(deliveredBytes(lab)-before)
			perCore = append(perCore, gigabits/(busy(b, lab.pump)-busyBefore).Seconds())
			carried = append(carried, gigabits/time.Since(began).Seconds())
		}
		slices.Sort(perCore)
		hosttest.Row{
			Name: "emulator, per core", Value: perCore[rounds/2], Unit: "Gb/s", Goal: ">= 2.2",
			Remark: fmt.Sprintf("median of %d flows from %.2f to %.2f; one TCP flow of up to %.2f Gb/s",
				rounds, perCore[0], perCore[rounds-1], slices.Max(carried)),
		}.Print()
	}
}

func deliveredBytes(lab *Lab) uint64 {
	down, _ := lab.Counts()
	return down.DeliveredBytes
}

// busy is the CPU time that the pump's thread has used.
func busy(b testing.TB, p *pump.Pump) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/schedstat", p.Thread()))
	require.NoError(b, err)
	ns, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
	require.NoError(b, err)
	return time.Duration(ns)
}

const (
	datagram = 1472 // with its headers 1500 bytes
	perBurst = 12   // packets a millisecond: 144 Mb/s
	// delayRateBps leaves the link some room: at full load a queue would keep, and so count again and again, each
	// moment that the sender's own machine was late.
	delayRateBps = 200e6
)

// BenchmarkAddedDelay sends 144 Mb/s of datagrams and holds the kernel's receive times against those
// that the nodes predict from the send times alone.
func BenchmarkAddedDelay(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a sender that stops between clock and socket counts as delay
	profile := benchProfile(delayRateBps, 20)
	link := heldByAnother(b, profile)
	sink := stampedSink(b, link)
	source := listenUDP(b, link.Hosts["sender-1"])
	for b.Loop() {
		packets := hosttest.Size(4*1000, 200) * perBurst
		received := make(chan map[uint64]int64, 1)
		go func() { received <- receiveStamps(sink, packets) }()
		var sent []int64
		require.NoError(b, onThread(func() error {
			pump.PreferThread() // else a sender that has to wait for a core counts as a delay of the link
			sent = sendPaced(b, source, sink.LocalAddr(), packets, perBurst)
			return nil
		}))
		added := addedDelays(profile, sent, <-received)
		require.Greater(b, len(added), packets*9/10, "most packets arrive")
		hosttest.Row{
			Name: "emulator, added delay, p99", Value: float64(added[len(added)*99/100]) / 1e6, Unit: "ms", Goal: "<= 0.15",
			Remark: fmt.Sprintf("p50 %.3f ms, at 144 Mb/s", float64(added[len(added)/2])/1e6),
		}.Print()
	}
}

// heldByAnother has a process of its own hold the link, as in real use: this one's garbage collection is not the link's.
func heldByAnother(b testing.TB, profile emulate.Profile) Found {
	text, err := yaml.Marshal(profile)
	require.NoError(b, err)
	path := filepath.Join(b.TempDir(), "bench.yaml")
	require.NoError(b, os.WriteFile(path, text, 0o600))
	name := testName("delay")
	startHolder(b, name, path, exec.Command(os.Args[0]))
	link, err := Find(name)
	require.NoError(b, err)
	return link
}

// stampedSink is a UDP socket on the receiver whose datagrams bear the time at which the kernel got them.
func stampedSink(b testing.TB, link Found) *net.UDPConn {
	sink := listenUDP(b, link.Hosts[Receiver])
	require.NoError(b, sink.SetReadBuffer(4<<20))
	raw, err := sink.SyscallConn()
	require.NoError(b, err)
	require.NoError(b, raw.Control(func(fd uintptr) {
		require.NoError(b, unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1))
	}))
	return sink
}

// listenUDP gives a socket of a host's, open until the test ends.
func listenUDP(t testing.TB, host HostInfo) (conn *net.UDPConn) {
	require.NoError(t, host.Within(func() (err error) {
		conn, err = net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(host.DataHost)})
		return err
	}))
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// receiveStamps maps packet numbers to receive times, in ns since 1970.
func receiveStamps(sink *net.UDPConn, packets int) map[uint64]int64 {
	stamps := make(map[uint64]int64, packets)
	text, oob := make([]byte, datagram), make([]byte, 128)
	for len(stamps) < packets {
		_ = sink.SetReadDeadline(time.Now().Add(2 * time.Second)) // silence means that the rest is lost
		_, n, _, _, err := sink.ReadMsgUDP(text, oob)
		if err != nil {
			break
		}
		messages, err := unix.ParseSocketControlMessage(oob[:n])
		if err != nil || len(messages) == 0 {
			continue
		}
		stamp := (*unix.Timespec)(unsafe.Pointer(&messages[0].Data[0]))
		stamps[binary.BigEndian.Uint64(text)] = stamp.Nano()
	}
	return stamps
}

// sendPaced sends numbered datagrams and returns when each was sent, in ns since 1970.
func sendPaced(b testing.TB, source net.PacketConn, to net.Addr, packets, perMillisecond int) []int64 {
	sent := make([]int64, packets)
	text := make([]byte, datagram)
	began := time.Now()
	for i := range sent {
		if i%perMillisecond == 0 {
			time.Sleep(time.Until(began.Add(time.Duration(i/perMillisecond) * time.Millisecond)))
		}
		binary.BigEndian.PutUint64(text, uint64(i))
		sent[i] = time.Now().UnixNano()
		_, err := source.WriteTo(text, to)
		require.NoError(b, err)
	}
	return sent
}

// addedDelays sorts by how much later than predicted packets came.
func addedDelays(profile emulate.Profile, sent []int64, received map[uint64]int64) (added []time.Duration) {
	offsets := make([]time.Duration, len(sent))
	for i := range sent {
		offsets[i] = time.Duration(sent[i] - sent[0])
	}
	for i, due := range emulate.Predict(profile, 0, offsets, datagram+28) {
		if at, ok := received[uint64(i)]; ok && due != emulate.Never {
			added = append(added, time.Duration(at-sent[0])-due)
		}
	}
	slices.Sort(added)
	return added
}
