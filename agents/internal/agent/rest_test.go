package agent_test

import (
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/agent/pause"
	"downlink/agents/internal/server/protocol"
)

// lastPoll is what the agent said last of itself.
func (b *fakeBackend) lastPoll(agent string) protocol.PollRequest {
	b.mu.Lock()
	defer b.mu.Unlock()
	if polls := b.polls[agent]; len(polls) > 0 {
		return polls[len(polls)-1]
	}
	return protocol.PollRequest{}
}

func (p *pair) awaitStatus(t *testing.T, status protocol.Status) protocol.PollRequest {
	t.Helper()
	require.Eventually(t, func() bool { return p.backend.lastPoll("sender").Status == status }, patience, 20*time.Millisecond)
	return p.backend.lastPoll("sender")
}

func TestAPausedAgentSaysSoUntilItIsResumed(t *testing.T) {
	p := newPair(t)
	p.awaitStatus(t, protocol.StatusIdle)
	require.NoError(t, pause.Set(p.sender.config.StateDir, pause.Pause{Why: "the dish is moved"}))
	said := p.awaitStatus(t, protocol.StatusBlocked)
	require.Equal(t, "paused by its owner; `downlink-agent resume` ends it (the dish is moved)", *said.Detail)

	p.begin(makeRun(1, protocol.Stop{Seconds: new(0.5)}, 20, "cubic"))
	_, err := pause.Clear(p.sender.config.StateDir)
	require.NoError(t, err)
	p.awaitBoth(t, "uploaded")
}

func TestAServerTakesWhateverAnOwnerWroteAsTheReasonOfAPause(t *testing.T) {
	p := newPair(t)
	require.NoError(t, pause.Set(p.sender.config.StateDir, pause.Pause{Why: "\x1b[31mmoved" + strings.Repeat("!", 5000)}))
	said := *p.awaitStatus(t, protocol.StatusBlocked).Detail
	require.Contains(t, said, "(\ufffd[31mmoved!!")
	require.Equal(t, 2000, utf8.RuneCountInString(said))
}

func TestAnOwnerBreaksOffTheRunThatIsUnderWay(t *testing.T) {
	p := newPair(t)
	before := p.sender.setting(t, wmem)
	p.begin(makeRun(1, protocol.Stop{Seconds: new(30.0)}, 60, "cubic"))
	p.awaitBoth(t, "ready")
	p.awaitStatus(t, protocol.StatusRunning)
	require.NoError(t, pause.Set(p.sender.config.StateDir, pause.Pause{EndsRun: true}))
	failed := p.backend.awaitEvent(t, "sender", "failed", 10*time.Second)
	require.Equal(t, "host_busy", failed["reason"])
	require.Contains(t, failed["detail"], "owner")
	require.Equal(t, before, p.sender.setting(t, wmem))
}

func TestNoRunLastsIntoQuietHours(t *testing.T) {
	p := newPair(t)
	p.sender.end(t, syscall.SIGTERM)
	begins := time.Now().Add(10 * time.Minute)
	hours, err := pause.ParseHours("daily " + begins.Format("15:04") + "-" + begins.Add(time.Hour).Format("15:04"))
	require.NoError(t, err)
	p.sender.config.Policy.QuietHours = []pause.Hours{hours}
	_, err = p.sender.config.Save()
	require.NoError(t, err)
	saved, err := config.Load(p.sender.config.StateDir + "/" + config.FileName)
	require.NoError(t, err)
	require.Equal(t, p.sender.config.Policy, saved.Policy)
	p.sender.start(t)

	p.awaitStatus(t, protocol.StatusIdle)
	p.begin(makeRun(1, protocol.Stop{Seconds: new(0.5)}, 900, "cubic"))
	failed := p.backend.awaitEvent(t, "sender", "failed", patience)
	require.Equal(t, "host_busy", failed["reason"])
	require.Contains(t, failed["detail"], "could last into its owner's quiet hours, daily")
	said := p.awaitStatus(t, protocol.StatusBlocked)
	ends := begins.Add(time.Hour).Truncate(time.Minute).UTC().Format("2006-01-02 15:04 MST")
	require.Equal(t, "its owner's quiet hours are near; it takes runs again at "+ends, *said.Detail)
}
