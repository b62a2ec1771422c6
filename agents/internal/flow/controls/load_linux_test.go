package controls

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/testing/hosttest"

	"github.com/stretchr/testify/require"
)

const (
	holdControlEnv   = "DOWNLINK_TEST_HOLD_CONTROL"
	selectControlEnv = "DOWNLINK_TEST_SELECT_CONTROL"
)

// The test binary, started again, stands for an agent that holds a control.
func TestMain(m *testing.M) {
	if name := os.Getenv(holdControlEnv); name != "" {
		if _, err := Load(name, nil); err != nil {
			os.Stdout.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Stdout.WriteString("held\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	if name := os.Getenv(selectControlEnv); name != "" {
		if err := selectControl(name); err != nil {
			os.Stdout.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Stdout.WriteString("selected\n")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// load waits while another agent on this kernel, or the end of one, holds the name with other options.
func load(t testing.TB, name string, options map[string]any) (loaded *Loaded) {
	t.Helper()
	hosttest.NeedRoot(t)
	var err error
	require.Eventually(t, func() bool {
		loaded, err = Load(name, options)
		return !errors.Is(err, ErrAlreadyRegistered)
	}, time.Minute, 50*time.Millisecond, "%s is held by another process", name)
	require.NoError(t, err)
	t.Cleanup(func() { _ = loaded.Close() })
	return loaded
}

// requireOffered allows the kernel a moment: it unregisters when the last descriptor goes, and a process that another
// test starts holds a copy of it from its fork to its exec.
func requireOffered(t *testing.T, name string, offered bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		names, err := socket.AvailableControls()
		return err == nil && slices.Contains(names, name) == offered
	}, time.Minute, 10*time.Millisecond, "%s is offered: %v", name, offered)
}

// record collects the records of a socket while act runs.
func record(t testing.TB, source acks.Source, conn *net.TCPConn, act func()) ([]acks.Ack, acks.Tally) {
	t.Helper()
	cookie, err := socket.Cookie(conn)
	require.NoError(t, err)
	reader, err := source.Watch(cookie, acks.RingBytes(1e9))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var records []acks.Ack
	done := make(chan error)
	go func() { done <- reader.Run(ctx, func(ack *acks.Ack) { records = append(records, *ack) }) }()
	act()
	cancel()
	require.NoError(t, <-done)
	tally, err := reader.Tally()
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	return records, tally
}

func TestEveryControlCarriesBytesAndRecordsEachAcknowledgement(t *testing.T) {
	for _, known := range Catalog() {
		t.Run(known.Name, func(t *testing.T) {
			var options map[string]any
			if known.Name == "dl_vivace" {
				options = map[string]any{"initial_kbps": 1_000_000} // loopback has segments of 64 KB
			}
			loaded := load(t, known.Name, options)
			requireOffered(t, known.Name, true)
			sender, receiver := hosttest.Connect(t)
			actual, err := socket.SetControl(sender, known.Name)
			require.NoError(t, err)
			require.Equal(t, known.Name, actual)
			records, tally := record(t, loaded, sender, func() { hosttest.Send(t, sender, receiver, 3_000_000) })
			require.NotEmpty(t, records)
			require.Zero(t, tally.Dropped)
			require.Equal(t, tally.Acks, uint64(len(records)))
			requireTrueRecords(t, records, sender)
		})
	}
}

func requireTrueRecords(t *testing.T, records []acks.Ack, conn *net.TCPConn) {
	t.Helper()
	cookie, err := socket.Cookie(conn)
	require.NoError(t, err)
	last := records[len(records)-1]
	require.LessOrEqual(t, last.AckedBytes, uint64(3_000_001))
	require.GreaterOrEqual(t, last.SentBytes, last.AckedBytes-1)
	for i := range records {
		require.Equal(t, cookie, records[i].Cookie)
		require.EqualValues(t, conn.LocalAddr().(*net.TCPAddr).Port, records[i].LocalPort)
		require.EqualValues(t, conn.RemoteAddr().(*net.TCPAddr).Port, records[i].PeerPort)
		if i > 0 {
			require.GreaterOrEqual(t, records[i].TimeNs, records[i-1].TimeNs)
			require.GreaterOrEqual(t, records[i].AckedBytes, records[i-1].AckedBytes)
		}
	}
}

func TestClosingUnregisters(t *testing.T) {
	hosttest.HoldControls(t)
	hosttest.NeedRoot(t)
	loaded, err := Load("dl_cubic_nohs", nil)
	require.NoError(t, err)
	requireOffered(t, "dl_cubic_nohs", true)
	require.NoError(t, loaded.Close())
	requireOffered(t, "dl_cubic_nohs", false)
}

func TestASocketKeepsAControlThatWasUnregistered(t *testing.T) {
	loaded := load(t, "dl_hybla", nil)
	sender, receiver := hosttest.Connect(t)
	_, err := socket.SetControl(sender, "dl_hybla")
	require.NoError(t, err)
	require.NoError(t, loaded.Close())
	hosttest.Send(t, sender, receiver, 1_000_000)
	actual, err := socket.ActualControl(sender)
	require.NoError(t, err)
	require.Equal(t, "dl_hybla", actual)
}

// hold starts a process that holds a control, and returns it with the line it prints.
func hold(t *testing.T, name string) (*exec.Cmd, string) {
	t.Helper()
	hosttest.NeedRoot(t)
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), holdControlEnv+"="+name)
	input, err := holder.StdinPipe()
	require.NoError(t, err)
	output, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	t.Cleanup(func() { _ = input.Close(); _ = holder.Process.Kill(); _ = holder.Wait() })
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	return holder, line
}

func TestNothingStaysRegisteredWhenTheHolderIsKilled(t *testing.T) {
	hosttest.HoldControls(t)
	holder, line := hold(t, "dl_cubic_search")
	require.Equal(t, "held\n", line)
	requireOffered(t, "dl_cubic_search", true)
	require.NoError(t, holder.Process.Kill())
	_ = holder.Wait()
	requireOffered(t, "dl_cubic_search", false)
	load(t, "dl_cubic_search", nil)
}

func TestAnotherProcessWithTheSameOptionsShares(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	hosttest.HoldControls(t)
	holder, line := hold(t, "dl_cubic_search")
	require.Equal(t, "held\n", line)
	shared := load(t, "dl_cubic_search", nil)
	sender, receiver := hosttest.Connect(t)
	_, err := socket.SetControl(sender, "dl_cubic_search")
	require.NoError(t, err)
	records, _ := record(t, shared, sender, func() { hosttest.Send(t, sender, receiver, 3_000_000) })
	require.NotEmpty(t, records, "its records reach this process")
	require.NoError(t, holder.Process.Kill())
	_ = holder.Wait()
	require.Never(t, func() bool {
		names, err := socket.AvailableControls()
		return err != nil || !slices.Contains(names, "dl_cubic_search")
	}, 200*time.Millisecond, 20*time.Millisecond, "it stays while this process holds it")
	require.NoError(t, shared.Close())
	requireOffered(t, "dl_cubic_search", false)
}

func TestEachControlIsSharedWithTheSameOptionsAndRefusedWithOthers(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	hosttest.HoldControls(t)
	for _, control := range Catalog() {
		t.Run(control.Name, func(t *testing.T) {
			_, line := hold(t, control.Name)
			require.Equal(t, "held\n", line)
			require.NoError(t, load(t, control.Name, nil).Close())
			for i := range control.Options {
				_, err := Load(control.Name, map[string]any{control.Options[i].Name: other(&control.Options[i])})
				require.ErrorIs(t, err, ErrAlreadyRegistered)
				require.ErrorContains(t, err, "options")
			}
		})
	}
}

// other is a value of an option that is not its default.
func other(option *Option) any {
	for _, choice := range option.Choices {
		if choice.Name != option.Default {
			return choice.Name
		}
	}
	if strconv.FormatUint(uint64(option.Min), 10) != option.Default {
		return option.Min
	}
	return option.Max
}

func TestTheVerifierTakesEveryOptionsLimitsAndChoices(t *testing.T) {
	hosttest.NeedRoot(t)
	for _, control := range Catalog() {
		for i := range control.Options {
			option := &control.Options[i]
			values := []string{strconv.FormatUint(uint64(option.Min), 10), strconv.FormatUint(uint64(option.Max), 10)}
			if len(option.Choices) > 0 {
				values = strings.Split(option.Values(), ", ")
			}
			for _, value := range values {
				objects, err := control.open(map[string]any{option.Name: value})
				require.NoError(t, err, "%s %s=%s", control.Name, option.Name, value)
				objects.Close()
			}
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, example := range []struct {
		control string
		options map[string]any
		says    string
	}{
		{"dl_cubic_search", map[string]any{"version": "5"}, `"5" is none of 1.0, 3.1, 4.0`},
		{"dl_cubic_search", map[string]any{"verison": "3.1"}, `has no option "verison"; it has version`},
		{"dl_cubic_nohs", map[string]any{"beta": 3}, "it has none"},
		{"dl_hybla", map[string]any{"rtt0_ms": 0}, "not a whole number from 1 to 10000"},
		{"dl_hybla", map[string]any{"rtt0_ms": 2.5}, "not a whole number"},
	} {
		_, err := Load(example.control, example.options)
		require.ErrorIs(t, err, ErrBadOption)
		require.ErrorContains(t, err, example.says)
		requireOffered(t, example.control, false)
	}
	_, err := Load("dl_reno", nil)
	require.ErrorIs(t, err, ErrUnknownControl)
}

func TestNumbersOfAFileMeanTheChoice(t *testing.T) {
	search, err := Find("dl_cubic_search")
	require.NoError(t, err)
	values, err := search.constants(map[string]any{"version": float64(4), "rollback": true})
	require.NoError(t, err)
	require.EqualValues(t, 40, values["version"])
	require.EqualValues(t, 1, values["rollback"])
}

func TestThisKernelCanRunEveryControl(t *testing.T) {
	hosttest.NeedRoot(t)
	for _, known := range Catalog() {
		require.NoError(t, known.Ability(), known.Name)
	}
}

func TestTheProbeRecordsAnyControl(t *testing.T) {
	hosttest.NeedRoot(t)
	probe, err := acks.OpenProbe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = probe.Close() })
	sender, receiver := hosttest.Connect(t)
	records, tally := record(t, probe, sender, func() { hosttest.Send(t, sender, receiver, 3_000_000) })
	require.NotEmpty(t, records)
	require.Zero(t, tally.Dropped)
	require.Equal(t, tally.Acks, uint64(len(records)+1), "what the last one did is not seen")
	require.EqualValues(t, acks.FromProbe, records[0].Source)
	requireTrueRecords(t, records, sender)
}
