package agent_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/flow/controls"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/testing/hosttest"
)

// agentConfig makes the test binary an agent: the tests start it again inside namespaces, and kill it there.
const agentConfig = "DOWNLINK_TEST_AGENT_CONFIG"

func TestMain(m *testing.M) {
	if path := os.Getenv(agentConfig); path != "" {
		os.Exit(serve(path))
	}
	os.Exit(m.Run())
}

func serve(path string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c, err := config.Load(path)
	if err == nil {
		err = serveConfig(ctx, c)
	}
	if err != nil {
		slog.Error("agent ended", "error", err)
		return 1
	}
	return 0
}

func serveConfig(ctx context.Context, c config.Config) error {
	identity, err := config.LoadIdentity(c.StateDir)
	if err != nil {
		return err
	}
	a, err := agent.New(c, agent.Parts{
		Version: "test", Log: slog.Default(), Identity: identity, Host: settings.LinuxHost{}, Controls: &controls.Library{},
	})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// process is an agent in a namespace.
type process struct {
	config  config.Config
	ns      *hosttest.Namespace
	command *exec.Cmd
	log     *os.File
}

// roleOf is what an agent of this name is; relays are numbered.
func roleOf(name string) (role string, isRelay bool) {
	role, _, isRelay = strings.Cut(name, "-")
	return role, isRelay
}

// newProcess enrols an agent by hand; its secret is its name.
func newProcess(t *testing.T, ns *hosttest.Namespace, backend *fakeBackend, name, dataHost string) *process {
	t.Helper()
	role, _ := roleOf(name)
	c := config.Default()
	c.Server, c.Name, c.StateDir, c.LockDir, c.Roles, c.DataHost = backend.URL, name, t.TempDir(), t.TempDir(), []string{role}, dataHost
	_, err := c.Save()
	require.NoError(t, err)
	require.NoError(t, config.SaveIdentity(c.StateDir, config.Identity{AgentID: name, Secret: name}))
	return &process{config: c, ns: ns}
}

func (p *process) start(t *testing.T) {
	t.Helper()
	var err error
	p.log, err = os.OpenFile(filepath.Join(p.config.StateDir, "agent.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	p.command = exec.Command(os.Args[0])
	p.command.Env = append(os.Environ(), agentConfig+"="+filepath.Join(p.config.StateDir, config.FileName))
	p.command.Stdout, p.command.Stderr = p.log, p.log
	p.ns.Start(t, p.command)
	command := p.command
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		content, err := os.ReadFile(p.log.Name())
		require.NoError(t, err)
		require.NotContains(t, string(content), "DATA RACE")
		if t.Failed() {
			t.Logf("log of %s:\n%s", p.config.Name, content)
		}
		_ = p.log.Close()
	})
}

// end sends a signal and waits for the process to be gone.
func (p *process) end(t *testing.T, signal os.Signal) {
	t.Helper()
	require.NoError(t, p.command.Process.Signal(signal))
	_ = p.command.Wait()
}

// setting reads a sysctl inside the process's namespace.
func (p *process) setting(t *testing.T, path string) (value string) {
	t.Helper()
	p.ns.Do(t, func() {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		value = strings.Join(strings.Fields(string(content)), " ")
	})
	return value
}

// pair is two agents over a veth, with their backend.
type pair struct {
	backend          *fakeBackend
	sender, receiver *process
}

const (
	senderHost   = "198.51.100.1"
	receiverHost = "198.51.100.2"
)

func newPair(t *testing.T) *pair {
	t.Helper()
	return newPairAt(t, senderHost, receiverHost)
}

func newPairAt(t *testing.T, senderAddress, receiverAddress string) *pair {
	t.Helper()
	a, b := hosttest.NewNamespace(t), hosttest.NewNamespace(t)
	hosttest.Join(t, a, b, []string{senderHost + "/24", "2001:db8::1/64"}, []string{receiverHost + "/24", "2001:db8::2/64"})
	backend := newFakeBackend(t)
	p := &pair{
		backend:  backend,
		sender:   newProcess(t, a, backend, "sender", senderAddress),
		receiver: newProcess(t, b, backend, "receiver", receiverAddress),
	}
	p.sender.start(t)
	p.receiver.start(t)
	return p
}

// patience bounds what is waited for, so that a test that fails says what did not come. It lengthens no test that passes.
const patience = time.Minute
