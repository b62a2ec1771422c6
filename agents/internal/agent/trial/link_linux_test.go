package trial_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/netlab"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
	"downlink/agents/internal/testing/hosttest"
)

// linkUp builds a real link and returns its control socket.
func linkUp(t *testing.T, profileName string) string {
	t.Helper()
	hosttest.NeedRoot(t)
	profile, err := emulate.LoadProfile(profileName)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "link.sock")
	lab, err := netlab.Up(netlab.Options{Name: fmt.Sprintf("trial-%d", os.Getpid()), Profile: profile, Seed: 1, Senders: 1, LinkControl: path})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, lab.Close()) })
	return path
}

// runWithLink carries a flow over loopback whose receiver has the link's control socket.
func runWithLink(t *testing.T, path string, seed *uint64) (sender, receiver *rig) {
	t.Helper()
	sender, receiver = newRig(t), newRig(t)
	receiver.env.Config.LinkControl = path
	sendOrder, receiveOrder := makeOrder(protocol.RoleSender), makeOrder(protocol.RoleReceiver)
	sendOrder.LinkSeed, receiveOrder.LinkSeed = seed, seed
	runBoth(t, sender, receiver, sendOrder, receiveOrder)
	return sender, receiver
}

func TestTheAgentBesideAnEmulatedLinkRestartsItAndKeepsItsLog(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	path := linkUp(t, "leo-starlink")
	sender, receiver := runWithLink(t, path, new(uint64(42)))
	require.Nil(t, sender.finished(t).Link, "the other agent has nothing to say of the link")
	outcome := receiver.finished(t).Link
	require.Equal(t, uint64(42), outcome.Seed)
	require.Equal(t, "leo-starlink", outcome.Profile)
	require.Nil(t, outcome.Detail)
	require.GreaterOrEqual(t, outcome.Samples, 25, "of 0.3 s")
	require.Equal(t, 1, outcome.Chunks)
	keys := receiver.env.Spool.Keys(ref.RunID, 1)
	at := slices.IndexFunc(keys, func(key spool.Key) bool { return key.Point == string(protocol.PointLink) })
	require.GreaterOrEqual(t, at, 0, "%v", keys)
	require.Equal(t, 0, keys[at].Flow)
	packed, err := receiver.env.Spool.Get(keys[at])
	require.NoError(t, err)
	header, columns, err := chunk.Decode(packed)
	require.NoError(t, err)
	require.Equal(t, outcome.Samples, header.Samples)
	require.Equal(t, "elapsed_us", header.Fields[0])
	require.Equal(t, []int64{0, 10_000, 20_000}, columns[0][:3])
	again := second(runWithLink(t, path, new(uint64(42)))).finished(t).Link
	require.Equal(t, outcome.PhaseUs, again.PhaseUs)
}

func second(_, b *rig) *rig { return b }

func TestWithoutASeedALinkIsLeftAlone(t *testing.T) {
	_, receiver := runWithLink(t, filepath.Join(t.TempDir(), "nobody.sock"), nil)
	require.Nil(t, receiver.finished(t).Link)
}

func TestARunWhoseLinkCannotBeRestartedIsNotBegun(t *testing.T) {
	b := newRig(t)
	b.env.Config.LinkControl = filepath.Join(t.TempDir(), "nobody.sock")
	order := makeOrder(protocol.RoleReceiver)
	order.LinkSeed = new(uint64(1))
	_, ended := b.begin(t.Context(), order)
	select {
	case err := <-ended:
		require.NoError(t, err, "the host is restored")
	case <-time.After(time.Minute):
		require.Fail(t, "the run still waits")
	}
	failed := b.failure(t)
	require.Equal(t, protocol.ReasonLinkControl, failed.Reason)
	require.Contains(t, failed.Detail, "link up --link-control")
	require.Equal(t, "1 2 3", b.host.Values[settings.Key{Name: rmem}])
}
