package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
	"downlink/agents/internal/testing/hosttest"
)

// enrolling accepts one token.
func enrolling(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request protocol.JoinRequest
		if r.URL.Path == "/healthz" {
			return
		}
		if json.NewDecoder(r.Body).Decode(&request) != nil || request.Token != "dle_good" || request.Host.BootID == "" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"code": "enrolment_wrong", "message": "This enrolment token is used."}`))
			return
		}
		_ = json.NewEncoder(w).Encode(protocol.JoinResponse{AgentID: "id-1", Secret: "dla_1", ServerNow: protocol.Moment{Time: time.Now()}})
	}))
	t.Cleanup(server.Close)
	return server
}

func makeJoin(t *testing.T, server, token string) joinCmd {
	t.Helper()
	return joinCmd{Server: server, Token: token, Name: "viasat-client",
		Role: []string{"receiver"}, StateDir: filepath.Join(t.TempDir(), "state")}
}

func TestJoiningWritesConfigurationAndIdentity(t *testing.T) {
	hosttest.NeedRoot(t)
	join := makeJoin(t, enrolling(t).URL, "dle_good")
	require.NoError(t, join.Run(t.Context()))
	c, err := place{StateDir: join.StateDir}.load()
	require.NoError(t, err)
	require.Equal(t, "viasat-client", c.Name)
	require.Equal(t, "127.0.0.1", c.DataHost, "the address that leads to the server")
	identity, err := config.LoadIdentity(join.StateDir)
	require.NoError(t, err)
	require.Equal(t, config.Identity{AgentID: "id-1", Secret: "dla_1"}, identity)
	require.NoError(t, restoreCmd{place{StateDir: join.StateDir}}.Run(), "there is nothing to restore")
	require.NoError(t, doctorCmd{place{StateDir: join.StateDir}}.Run(t.Context()))
}

func TestARefusedTokenLeavesNoConfigurationBehind(t *testing.T) {
	join := makeJoin(t, enrolling(t).URL, "dle_used")
	require.ErrorContains(t, join.Run(t.Context()), "token is used")
	require.NoFileExists(t, filepath.Join(join.StateDir, config.FileName))
	_, err := place{StateDir: join.StateDir}.load()
	require.ErrorContains(t, err, "downlink-agent join")
}

func TestTheDoctorFindsWhatIsWrong(t *testing.T) {
	hosttest.NeedRoot(t)
	server := enrolling(t)
	join := makeJoin(t, server.URL, "dle_good")
	require.NoError(t, join.Run(t.Context()))
	require.NoError(t, os.WriteFile(filepath.Join(join.StateDir, "settings-journal.json"), []byte("{}"), 0o600))
	server.Close()
	err := doctorCmd{place{StateDir: join.StateDir}}.Run(t.Context())
	require.ErrorContains(t, err, "2 of 20 checks are bad", "settings left changed, and no server")
}

// parse reads a command line as main does.
func parse(t *testing.T, line ...string) (cli, error) {
	t.Helper()
	var commands cli
	parser, err := kong.New(&commands, append(options(), kong.Exit(func(int) {}))...)
	require.NoError(t, err)
	_, err = parser.Parse(line)
	return commands, err
}

func TestThePrintedJoinCommandIsTheWholeTruth(t *testing.T) {
	line, err := os.ReadFile("../../../docs/protocol/join_command.txt")
	require.NoError(t, err)
	words := strings.Fields(string(line))
	require.Equal(t, "downlink-agent", words[0])
	commands, err := parse(t, words[1:]...)
	require.NoError(t, err)
	token, err := commands.Join.token(nil)
	require.NoError(t, err)
	require.Regexp(t, `^dle_[A-Za-z0-9_-]{43}$`, token)
	c, err := commands.Join.config()
	if err != nil { // without a network no address leads to the server
		require.ErrorContains(t, err, "--data-host")
	}
	require.Equal(t, "https://downlink.example", c.Server)
	require.Equal(t, "viasat-client", c.Name)
}

func TestTheTokenNeedNotBeOnTheCommandLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("dle_from_file\n"), 0o600))
	for want, words := range map[string][]string{
		"dle_from_file":  {"--token-file", file},
		"dle_from_stdin": {"--token-file", "-"},
		"dle_from_env":   nil,
	} {
		if words == nil {
			t.Setenv("DOWNLINK_ENROLMENT_TOKEN", "dle_from_env")
		}
		commands, err := parse(t, append([]string{"join", "--server", "https://x", "--name", "a"}, words...)...)
		require.NoError(t, err)
		token, err := commands.Join.token(strings.NewReader("dle_from_stdin\n"))
		require.NoError(t, err)
		require.Equal(t, want, token)
		require.NoError(t, os.Unsetenv("DOWNLINK_ENROLMENT_TOKEN"))
	}
	_, err := parse(t, "join", "--server", "https://x", "--name", "a", "--token", "x", "--token-file", file)
	require.ErrorContains(t, err, "can't be used together")
	commands, err := parse(t, "join", "--server", "https://x", "--name", "a")
	require.NoError(t, err)
	_, err = commands.Join.token(nil)
	require.ErrorContains(t, err, "--token-file")
}

func TestAServerThatOthersCanListenToIsWarnedOf(t *testing.T) {
	for server, want := range map[string]bool{
		"http://downlink.example": true, "http://192.0.2.1:8400": true, "http://[2001:db8::1]": true,
		"https://downlink.example": false, "http://localhost:8400": false, "http://127.0.0.2": false, "http://[::1]:8400": false,
		"unix:///run/x": false,
	} {
		require.Equal(t, want, isReadableOnTheWay(server), server)
	}
}

func TestTheOwnerListsReturnsAndDropsWhatNobodyAsksFor(t *testing.T) {
	c := config.Default()
	c.Server, c.Name, c.StateDir, c.DataHost = "http://127.0.0.1", "a", t.TempDir(), "127.0.0.1"
	_, err := c.Save()
	require.NoError(t, err)
	p := place{StateDir: c.StateDir}
	s, err := spool.Open(filepath.Join(c.StateDir, "spool"), 0)
	require.NoError(t, err)
	require.NoError(t, s.Put(spool.Key{RunID: "run-1", Attempt: 1, Flow: 1, Point: "sender"}, []byte("x")))
	require.NoError(t, s.SetAside("run-1", 1))
	commands, err := parse(t, "spool")
	require.NoError(t, err)
	commands.Spool.List.place = p
	require.NoError(t, commands.Spool.List.Run())
	require.NoError(t, spoolReturnCmd{heldRun{p, "run-1", 1}}.Run())
	s, err = p.spool()
	require.NoError(t, err)
	require.Len(t, s.Held(), 1)
	require.ErrorContains(t, spoolDropCmd{heldRun{p, "run-2", 1}}.Run(), "lists what is")
	require.NoError(t, spoolDropCmd{heldRun{p, "run-1", 1}}.Run())
	s, err = p.spool()
	require.NoError(t, err)
	require.Empty(t, s.Held())
}

// An agent that writes a chunk gives it its name at the end: until then nobody may take the file away.
func TestLookingAtASpoolLeavesWhatItsAgentIsWriting(t *testing.T) {
	join := makeJoin(t, enrolling(t).URL, "dle_good")
	require.NoError(t, join.Run(t.Context()))
	p, state := place{StateDir: join.StateDir}, filepath.Join(join.StateDir, "spool")
	require.NoError(t, spoolListCmd{p}.Run(), "before the agent's first start")
	require.NoDirExists(t, state)
	half := filepath.Join(state, "run-1", "1", "1-sender-0.dlc.tmp")
	require.NoError(t, os.MkdirAll(filepath.Dir(half), 0o700))
	require.NoError(t, os.WriteFile(half, []byte("DLC"), 0o600))
	require.NoError(t, spoolListCmd{p}.Run())
	c, err := p.load()
	require.NoError(t, err)
	require.True(t, checkSpool(c).isGood)
	require.FileExists(t, half)
}

func TestBesideAnAgentThatRunsNothingIsPutBackAndNoSecondOneStarts(t *testing.T) {
	join := makeJoin(t, enrolling(t).URL, "dle_good")
	require.NoError(t, join.Run(t.Context()))
	p, journal := place{StateDir: join.StateDir}, filepath.Join(join.StateDir, "settings-journal.json")
	require.NoError(t, os.WriteFile(journal, []byte("{}"), 0o600))
	running, err := agent.Claim(join.StateDir)
	require.NoError(t, err)
	require.ErrorContains(t, restoreCmd{p}.Run(), "stop it first")
	require.FileExists(t, journal)
	require.ErrorIs(t, runCmd{p}.Run(t.Context(), newLogger(false)), agent.ErrRuns)
	require.Equal(t, good("A run is under way; its agent puts the settings back at its end."), checkJournal(join.StateDir, pending(true)))
	require.NoError(t, running.Close())
	require.NoError(t, restoreCmd{p}.Run())
	require.NoFileExists(t, journal)
	require.False(t, checkJournal(join.StateDir, pending(true)).isGood)
}

// A run has left a setting changed, and agent.yaml or the identity is wrong: the host comes first, by both ways.
func TestAWrongFileKeepsNoHostFromBeingPutBack(t *testing.T) {
	empty, misspelt := "", "no_such_key: x\n"
	for name, spoil := range map[string]func(t *testing.T, p place){
		"configuration gone":     func(t *testing.T, p place) { require.NoError(t, os.Remove(p.file())) },
		"configuration emptied":  func(t *testing.T, p place) { require.NoError(t, os.WriteFile(p.file(), []byte(empty), 0o600)) },
		"configuration misspelt": func(t *testing.T, p place) { require.NoError(t, os.WriteFile(p.file(), []byte(misspelt), 0o600)) },
		"configuration no YAML":  func(t *testing.T, p place) { require.NoError(t, os.WriteFile(p.file(), []byte("a: [\n"), 0o600)) },
		"identity cut": func(t *testing.T, p place) {
			require.NoError(t, os.WriteFile(filepath.Join(p.StateDir, "identity.json"), []byte("{"), 0o600))
		},
	} {
		for _, way := range []string{"run", "restore"} {
			t.Run(name+" "+way, func(t *testing.T) {
				join := makeJoin(t, enrolling(t).URL, "dle_good")
				require.NoError(t, join.Run(t.Context()))
				p, journal := place{StateDir: join.StateDir}, filepath.Join(join.StateDir, "settings-journal.json")
				require.NoError(t, os.WriteFile(journal, []byte("{}"), 0o600))
				spoil(t, p)
				if way == "run" {
					require.Error(t, runCmd{p}.Run(t.Context(), newLogger(false)))
				} else {
					require.NoError(t, restoreCmd{p}.Run())
				}
				require.NoFileExists(t, journal)
			})
		}
	}
}

func TestAnAgentThatNeverJoinedLeavesNothingBehind(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	require.ErrorContains(t, runCmd{place{StateDir: state}}.Run(t.Context(), newLogger(false)), "downlink-agent join")
	require.NoDirExists(t, state)
}

type pending bool

func (p pending) Pending() bool { return bool(p) }

func TestTheDoctorSaysWhichClockIsAhead(t *testing.T) {
	for ahead, want := range map[time.Duration]string{
		2900 * time.Millisecond: "agree", -2900 * time.Millisecond: "agree", 5 * time.Second: "5 s ahead", -60 * time.Second: "60 s behind",
	} {
		require.Contains(t, checkClock(ahead).sentence, want)
		require.True(t, checkClock(ahead).isGood, ahead)
	}
	require.False(t, checkClock(-61*time.Second).isGood)
}

func TestAFolderIsPrintedAsAShellTakesIt(t *testing.T) {
	for _, folder := range []string{"/var/lib/downlink-agent", "/tmp/my agent", "/tmp/it's $HOME"} {
		typed, err := exec.Command("sh", "-c", "printf %s "+shellWord(folder)).Output()
		require.NoError(t, err)
		require.Equal(t, folder, string(typed))
	}
}
