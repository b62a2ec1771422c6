package agent_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/server/protocol"
)

// killedInARun leaves the sender dead in the middle of a run, its host changed; what a setting was before.
func killedInARun(t *testing.T) (p *pair, before string) {
	t.Helper()
	p = newPair(t)
	before = p.sender.setting(t, wmem)
	p.begin(makeRun(1, protocol.Stop{Seconds: new(30.0)}, 40, "cubic"))
	p.backend.await(t, "data to flow", patience, func() bool { return bytesSent(p) > 0 })
	p.sender.end(t, syscall.SIGKILL)
	require.NotEqual(t, before, p.sender.setting(t, wmem))
	return p, before
}

func (p *pair) journal() string {
	return filepath.Join(p.sender.config.StateDir, "settings-journal.json")
}

func TestAHostIsPutBackThoughItsJournalWasRemoved(t *testing.T) {
	p, before := killedInARun(t)
	require.NoError(t, os.Remove(p.journal()))
	p.sender.start(t)
	p.backend.await(t, "the restarted sender's report", patience, func() bool { return p.backend.has("sender", p.backend.run.ref, "failed") })
	require.Equal(t, before, p.sender.setting(t, wmem))
}

func TestAJournalThatCannotBeReadIsNamedWithItsCause(t *testing.T) {
	p, _ := killedInARun(t)
	for _, file := range []string{p.journal(), p.journal() + ".copy"} {
		require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	}
	p.sender.start(t)
	said := *p.awaitStatus(t, protocol.StatusBlocked).Detail
	require.Contains(t, said, "run `downlink-agent restore` on it: read settings journal")
	require.Contains(t, said, "by hand")
}
