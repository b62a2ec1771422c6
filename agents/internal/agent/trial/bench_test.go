package trial_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/hosttest"
)

// benchRole makes the test binary one end of a run: the benchmark starts it in two namespaces, so that each end's
// processor time is its own.
const benchRole = "DOWNLINK_BENCH_ROLE"

var (
	benchSeconds = hosttest.Size(3, 1)
	benchRounds  = hosttest.Size(5, 1)
)

const (
	benchSender   = "198.51.100.1"
	benchReceiver = "198.51.100.2"
	iperfPort     = "5201"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(benchRole); role != "" {
		if err := serveBench(protocol.Role(role)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serveBench carries out one end of a run: it prints its data address, reads the start, and prints its outcome.
func serveBench(role protocol.Role) error {
	runtime.GOMAXPROCS(runtime.NumCPU() + 4) // as the agent's `run` does
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b, err := newRigAt(dir)
	if err != nil {
		return err
	}
	order := makeOrder(role)
	if role == protocol.RoleSender {
		b.env.Config.DataHost = benchSender
	} else {
		order.Flows[0].Sender.Host = benchSender
	}
	order.Stop, order.Settings = protocol.Stop{Seconds: new(float64(benchSeconds))}, nil
	running, ended := b.begin(context.Background(), order)
	ready := <-b.ready
	encoder := json.NewEncoder(os.Stdout)
	if err := encoder.Encode(ready.DataAddress); err != nil {
		return err
	}
	var start protocol.Go
	if err := json.NewDecoder(os.Stdin).Decode(&start); err != nil {
		return err
	}
	running.Go(&start)
	if err := <-ended; err != nil {
		return err
	}
	for _, event := range b.events {
		if finished, isFinished := event.(protocol.Finished); isFinished {
			return encoder.Encode(finished.Flows[0])
		}
	}
	return fmt.Errorf("the run failed: %+v", b.events)
}

// share is what one transfer cost and brought.
type share struct {
	goodputBps float64
	cpuSeconds float64
}

func (s share) cpuPerGbit() float64 {
	return s.cpuSeconds / (s.goodputBps * float64(benchSeconds) / 1e9)
}

// BenchmarkAgainstIperf3 carries the same data over the same path by turns, and prints the ratios of the medians.
func BenchmarkAgainstIperf3(b *testing.B) {
	sender, receiver := hosttest.NewNamespace(b), hosttest.NewNamespace(b)
	hosttest.Join(b, sender, receiver, []string{benchSender + "/24"}, []string{benchReceiver + "/24"})
	for b.Loop() {
		var ours, theirs []share
		for range benchRounds {
			ours = append(ours, runOurs(b, sender, receiver))
			theirs = append(theirs, runIperf3(b, sender, receiver))
		}
		report(ours, theirs)
	}
}

func report(ours, theirs []share) {
	goodput := func(s share) float64 { return s.goodputBps }
	cost := share.cpuPerGbit
	hosttest.Row{
		Name: "transfer goodput against iperf3", Value: medianOf(ours, goodput) / medianOf(theirs, goodput), Unit: "ratio", Goal: ">= 0.95",
		Remark: fmt.Sprintf("%.2f against %.2f Gb/s, sampled at 200 and 100 Hz", medianOf(ours, goodput)/1e9, medianOf(theirs, goodput)/1e9),
	}.Print()
	hosttest.Row{
		Name: "transfer CPU against iperf3", Value: medianOf(ours, cost) / medianOf(theirs, cost), Unit: "ratio", Goal: "<= 1.2",
		Remark: fmt.Sprintf("%.3f against %.3f CPU s per Gbit, both ends", medianOf(ours, cost), medianOf(theirs, cost)),
	}.Print()
}

func medianOf(shares []share, of func(share) float64) float64 {
	var values []float64
	for _, s := range shares {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// end is a process in a namespace whose processor time counts.
type end struct {
	command *exec.Cmd
	lines   *bufio.Scanner
	input   *json.Encoder
}

func startEnd(b *testing.B, ns *hosttest.Namespace, environment []string, name string, arguments ...string) *end {
	b.Helper()
	command := exec.CommandContext(b.Context(), name, arguments...)
	command.Env, command.Stderr = append(os.Environ(), environment...), os.Stderr
	output, err := command.StdoutPipe()
	require.NoError(b, err)
	input, err := command.StdinPipe()
	require.NoError(b, err)
	ns.Start(b, command)
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	return &end{command: command, lines: lines, input: json.NewEncoder(input)}
}

// read decodes the next line of the process's output.
func (e *end) read(b *testing.B, into any) {
	b.Helper()
	require.True(b, e.lines.Scan(), "the process ended without a word")
	require.NoError(b, json.Unmarshal(e.lines.Bytes(), into), "%s", e.lines.Text())
}

// wait returns the processor time that the process has used.
func (e *end) wait(b *testing.B) float64 {
	b.Helper()
	for e.lines.Scan() {
	}
	require.NoError(b, e.command.Wait())
	usage, isUsage := e.command.ProcessState.SysUsage().(*syscall.Rusage)
	require.True(b, isUsage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

func runOurs(b *testing.B, sender, receiver *hosttest.Namespace) share {
	b.Helper()
	self, err := os.Executable()
	require.NoError(b, err)
	sending := startEnd(b, sender, []string{benchRole + "=sender"}, self)
	receiving := startEnd(b, receiver, []string{benchRole + "=receiver"}, self)
	var address, none *string
	sending.read(b, &address)
	receiving.read(b, &none)
	start := makeGo(*address)
	require.NoError(b, sending.input.Encode(start))
	require.NoError(b, receiving.input.Encode(start))
	var sent, received protocol.Outcome
	sending.read(b, &sent)
	receiving.read(b, &received)
	seconds := float64(*received.LastByteUs-*received.FirstByteUs) / 1e6
	return share{goodputBps: float64(received.AppBytes) * 8 / seconds, cpuSeconds: sending.wait(b) + receiving.wait(b)}
}

func runIperf3(b *testing.B, sender, receiver *hosttest.Namespace) share {
	b.Helper()
	// --forceflush lets the server's greeting through the pipe: only then does it listen.
	server := startEnd(b, receiver, nil, "iperf3", "--server", "--one-off", "--port", iperfPort, "--forceflush")
	for server.lines.Scan() && len(server.lines.Text()) > 0 && server.lines.Text()[0] != 'S' {
	}
	client := startEnd(b, sender, nil, "iperf3", "--client", benchReceiver, "--port", iperfPort, "--congestion", "cubic",
		"--time", strconv.Itoa(benchSeconds), "--json")
	var output []byte
	for client.lines.Scan() {
		output = append(output, client.lines.Bytes()...)
	}
	var result struct {
		End struct {
			Received struct {
				BitsPerSecond float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	require.NoError(b, json.Unmarshal(output, &result))
	return share{goodputBps: result.End.Received.BitsPerSecond, cpuSeconds: client.wait(b) + server.wait(b)}
}
