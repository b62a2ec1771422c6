package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/testing/hosttest"
)

// printed runs a command line and returns what it prints.
func printed(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var commands cli
	parser, err := kong.New(&commands, options()...)
	require.NoError(t, err)
	parsed, err := parser.Parse(arguments)
	require.NoError(t, err)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = write
	defer func() { os.Stdout = stdout }()
	ran := parsed.Run()
	require.NoError(t, write.Close())
	text, err := io.ReadAll(read)
	require.NoError(t, err)
	return string(text), ran
}

func TestRecordedFilesBecomeATraceThatAProfileReads(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	course, err := printed(t, "profiles", "convert", "--opportunities", write("bw.txt", "0\n5\n12\n"), "--delays",
		write("delay.txt", "24\n18\n"))
	require.NoError(t, err)
	require.Equal(t, "# dl-link-trace/1\nat_ms,rate_bps,delay_ms\n0,2400000,24\n10,3600000,18\n", course)
	write("course.csv", course)
	path := write("mine.yaml", "name: mine\norbit: LEO\ndown: {trace: course.csv, queue: {limit_bytes: 100000}}\n"+
		"up: {rate: {constant_bps: 1000000}, queue: {limit_bytes: 100000}}\nfacts: {nominal_rate_bps: 2400000, base_rtt_ms: 40}\n")
	profile, err := emulate.LoadProfile(path)
	require.NoError(t, err)
	require.InDelta(t, 3.6e6, profile.PeakBps(), 0)
	_, err = printed(t, "profiles", "convert")
	require.ErrorContains(t, err, "give --opportunities, --delays, or both")
}

func TestEveryProfileIsListed(t *testing.T) {
	list, err := printed(t, "profiles", "list")
	require.NoError(t, err)
	for _, name := range emulate.ProfileNames() {
		require.Contains(t, list, name+" ")
	}
}

func TestAProfileIsShownWithoutBuildingIt(t *testing.T) {
	hosttest.Verify(t, hosttest.Kernel, "reckons the statistics of a link")
	text, err := printed(t, "profiles", "show", "geo-viasat", "--flows", "2")
	require.NoError(t, err)
	require.Regexp(t, `idle RTT, median +ms +597\.\d +597 +596\.5 - 597\.5 +yes +set +Peters 2021`, text)
	require.Regexp(t, `HyStart off: 1 MB after +s +[56]\.\d+ +6 +5\.4 - 6\.6 +yes +fit`, text)
	require.Regexp(t, `HyStart off: 1 GB after +s +not reckoned +100 +90 - 110 +test`, text)
	require.Regexp(t, `BBR's rate over Cubic's, one link, 15-120 s +see .make study-001. +10`, text)
	_, err = printed(t, "profiles", "show", "geo-viasat", "--flows", "1001")
	require.ErrorContains(t, err, "from 0 to 1000 flows")
}

func TestStatisticsOfALinkWithAProxySayThatItTakesNoPart(t *testing.T) {
	hosttest.Verify(t, hosttest.Kernel, "reckons the statistics of two links, for half a minute")
	with, err := printed(t, "profiles", "show", "geo-viasat-pep", "--flows", "0")
	require.NoError(t, err)
	require.Contains(t, with, "The profile's proxy takes no part")
	without, err := printed(t, "profiles", "show", "geo-viasat", "--flows", "0")
	require.NoError(t, err)
	require.NotContains(t, without, "proxy takes no part")
}

func TestALinkTraceIsCheckedWithMeansOverItsTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "course.csv")
	require.NoError(t, os.WriteFile(path,
		[]byte("# dl-link-trace/1\nat_ms,rate_bps,delay_ms,loss_ratio\n0,1000000,10,0\n30,5000000,50,0.1\n40,9000000,90,0.2\n"), 0o600))
	text, err := printed(t, "profiles", "check", path, "terrestrial")
	require.NoError(t, err)
	require.Contains(t, text,
		path+": link trace, 3 rows, begins again after 50ms\n  rate 1 to 9 Mb/s, mean 3.4\n  delay 10 to 90 ms, mean 34\n  loss 0 to 20 %, "+
			"mean 6\n")
	require.Contains(t, text, "terrestrial: one hop, 50 Mb/s, RTT from 20.000 ms\n")
	require.NoError(t, os.WriteFile(path, []byte("# dl-link-trace/1\nat_ms,rate_bps\n0,1000000\n0,2000000\n"), 0o600))
	_, err = printed(t, "profiles", "check", path)
	require.ErrorContains(t, err, "course.csv: line 4: ")
	_, err = printed(t, "profiles", "check", filepath.Join(t.TempDir(), "none.csv"))
	require.ErrorContains(t, err, "none.csv")
}

func TestLinkShowTakesTheNameOfAProfileToo(t *testing.T) {
	hosttest.Verify(t, hosttest.Kernel, "reckons the statistics of a link")
	require.NoError(t, linkShowCmd{Name: "terrestrial", Probes: 1, Seconds: 1}.Run(t.Context()))
	require.ErrorContains(t, linkShowCmd{Name: "mars", Probes: 1, Seconds: 1}.Run(t.Context()), "mars")
}

func TestOrdersAreCarriedOutInVirtualTimeALineEach(t *testing.T) {
	profile, err := emulate.LoadProfile("terrestrial")
	require.NoError(t, err)
	var printed strings.Builder
	orders := `{"kind":"probe","seconds":1,"every_ms":500,"seed":1}` + "\n" + `{"kind":"full","seconds":0.1,"window_bytes":100000}`
	require.NoError(t, carryAll(profile, strings.NewReader(orders), &printed))
	require.Equal(t, 2, strings.Count(printed.String(), "\n"))
	require.Contains(t, printed.String(), `"sender":{"elapsed_us":[0,500000],"probe_number":[1,2],"probe_rtt_us":[2002`)
	require.ErrorContains(t, carryAll(profile, strings.NewReader(`{"kind":"probe","speed":3}`), &printed), "read an order")
	require.ErrorContains(t, carryAll(profile, strings.NewReader(`{"kind":"ping","seconds":3}`), &printed), "probe, cubic or full")
}
