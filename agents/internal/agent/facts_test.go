package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/agent/pause"
	"downlink/agents/internal/agent/volume"
	"downlink/agents/internal/flow/controls"
	"downlink/agents/internal/lab/linkserver"
	"downlink/agents/internal/server/linkcontrol"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/hosttest"
)

func TestControlsHereAreTheKernelsAndTheAgentsOwn(t *testing.T) {
	hosttest.NeedRoot(t)
	names, unavailable, err := controlsHere()
	require.NoError(t, err)
	require.Empty(t, unavailable)
	require.Subset(t, names, append(controls.Names(), "cubic", "reno"))
	require.IsIncreasing(t, names, "sorted, each once")
}

func TestAReasonIsASentenceAndNotAVerifiersLog(t *testing.T) {
	require.Equal(t, "load dl_x: rejected", firstWords("load dl_x: rejected\n0: R1=ctx()"))
	require.Len(t, firstWords(strings.Repeat("a", 2000)), maxReasonBytes)
	require.Equal(t, strings.Repeat("a", 499), firstWords(strings.Repeat("a", 499)+"é"))
}

// newsOf looks again each time the facts may be asked for, and delivers what is new.
func newsOf(keeper *factsKeeper) func() *protocol.Host {
	now := time.Now()
	return func() *protocol.Host {
		now = now.Add(factsInterval)
		facts := keeper.news(now, protocol.StatusIdle)
		keeper.told(facts)
		return facts
	}
}

func TestAFillingDiskIsNewsWhenHalfOfWhatWasFreeIsGone(t *testing.T) {
	free := int64(150 << 20)
	keeper := factsKeeper{read: func() *protocol.Host { return &protocol.Host{SpoolFreeBytes: free} }}
	look := newsOf(&keeper)
	require.NotNil(t, look())
	free -= 10 << 20
	require.Nil(t, look(), "a run's samples are no news")
	free /= 2
	require.NotNil(t, look())
	free = 0
	require.NotNil(t, look())
}

func TestWhatTheOwnerAllowsIsAmongTheFacts(t *testing.T) {
	c := config.Default()
	c.StateDir = t.TempDir()
	facts := policyFacts(c, time.Now())
	require.Equal(t, &protocol.PolicyFacts{MaxSeconds: 3600, UTCOffsetS: facts.UTCOffsetS}, facts, "nothing else is bounded by default")

	quiet, err := pause.ParseHours("weekdays 18:00-23:00")
	require.NoError(t, err)
	c.Policy.MaxBytes, c.Policy.MaxRateBps, c.Policy.QuietHours = 2e9, 5e7, []pause.Hours{quiet}
	c.Policy.MonthlyBytes, c.Policy.ResetDay, c.Policy.ShortenAddresses = 50e9, 20, true
	now := time.Date(2026, 11, 25, 3, 0, 0, 0, time.Local)
	settle, err := volume.Open(c.StateDir, 50e9, 20).Meter(now, func() int64 { return 12e9 })
	require.NoError(t, err)
	require.NoError(t, settle())
	facts = policyFacts(c, now)
	_, offsetS := now.Zone()
	require.Equal(t, &protocol.PolicyFacts{
		MaxSeconds: 3600, MaxBytes: 2e9, MaxRateBps: 5e7, QuietHours: []string{"weekdays 18:00-23:00"}, UTCOffsetS: offsetS,
		ShortenAddresses: true,
		Month:            &protocol.MonthFacts{LimitBytes: 50e9, UsedBytes: 12e9, ResetsOn: "2026-12-20"},
	}, facts)

	require.NoError(t, os.WriteFile(filepath.Join(c.StateDir, "volume.json"), []byte("torn"), 0o600))
	require.Equal(t, int64(50e9), policyFacts(c, now).Month.UsedBytes, "in doubt it is used up")
}

func TestWhatOfAMonthIsUsedIsNewsByThePercent(t *testing.T) {
	month := protocol.MonthFacts{LimitBytes: 1000, UsedBytes: 500}
	keeper := factsKeeper{read: func() *protocol.Host {
		now := month
		return &protocol.Host{Policy: &protocol.PolicyFacts{Month: &now}}
	}}
	look := newsOf(&keeper)
	require.NotNil(t, look())
	month.UsedBytes = 509
	require.Nil(t, look())
	month.UsedBytes = 510
	require.Equal(t, int64(510), look().Policy.Month.UsedBytes, "the server hears the exact number")
	month.UsedBytes = 0
	require.NotNil(t, look(), "a new month")
}

// flying is a link with a path trace.
type flying struct{ lasts time.Duration }

func (l flying) Describe() linkcontrol.Link {
	return linkcontrol.Link{Name: "leo", Profile: "pole", PathTrace: &linkcontrol.PathTrace{Name: "pole", LastsUs: l.lasts.Microseconds()}}
}

func (flying) Restart(time.Time, uint64, *linkcontrol.Window) (linkserver.Session, error) {
	return nil, errors.New("no course")
}

func TestThePathOfTheLinkBesideAnAgentIsAmongTheFactsWhileTheLinkIsUp(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "link.sock")
	require.Nil(t, pathTrace(""), "a real link")
	require.Nil(t, pathTrace(socket), "a link that is not up")
	server, err := linkserver.Listen(socket, flying{90 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	keeper := factsKeeper{read: func() *protocol.Host { return &protocol.Host{PathTrace: pathTrace(socket)} }}
	look := newsOf(&keeper)
	require.Equal(t, &protocol.PathTrace{Name: "pole", LastsS: 90}, look().PathTrace)
	require.Nil(t, look())
	require.NoError(t, server.Close())
	server, err = linkserver.Listen(socket, flying{time.Hour})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	require.Equal(t, 3600.0, look().PathTrace.LastsS, "the link came up again with a longer path")
}
