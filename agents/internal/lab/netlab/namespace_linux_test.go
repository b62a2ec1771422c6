package netlab

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/testing/hosttest"
)

// freshRunEnv says that this process has a /run of its own, in which nobody has named a namespace so far.
const freshRunEnv = "NETLAB_TEST_FRESH_RUN"

func TestALinkGoesDownAfterTheFirstNamespaceOfSomeoneElse(t *testing.T) {
	hosttest.NeedRoot(t)
	if os.Getenv(freshRunEnv) == "" {
		requirePassesWithFreshRun(t)
		return
	}
	lab, err := Up(Options{Name: testName("foreign"), Profile: terrestrial(t), Senders: 1})
	require.NoError(t, err)
	output, err := exec.Command("ip", "netns", "add", "foreign").CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.NoError(t, lab.Close())
	require.Empty(t, traces(t, lab.Name))
	require.FileExists(t, "/run/netns/foreign", "somebody else's stays")
}

// requirePassesWithFreshRun runs the calling test in a mount namespace of its own.
func requirePassesWithFreshRun(t *testing.T) {
	t.Helper()
	command := exec.Command("unshare", "--mount", "sh", "-c",
		`mount -t tmpfs tmpfs /run && exec "$0" -test.v -test.run "^$1\$"`, os.Args[0], t.Name())
	command.Env = append(os.Environ(), freshRunEnv+"=1")
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "--- PASS: "+t.Name())
}
