package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
	"downlink/agents/internal/testing/hosttest"
)

func requireBad(t *testing.T, f finding, words ...string) {
	t.Helper()
	require.False(t, f.isGood, f.sentence)
	for _, each := range words {
		require.Contains(t, f.sentence, each)
	}
}

func requireGood(t *testing.T, f finding) {
	t.Helper()
	require.True(t, f.isGood, f.sentence)
}

func sending(dataHost string) config.Config {
	c := config.Default()
	c.Server, c.Name, c.DataHost, c.DataPort = "http://192.0.2.1", "a", dataHost, 40123
	return c
}

func TestTheDoctorNamesWhatWasTakenFromTheDataPath(t *testing.T) {
	near, far := hosttest.NewNamespace(t), hosttest.NewNamespace(t)
	hosttest.Join(t, near, far, []string{"198.51.100.1/24", "2001:db8::1/64"}, nil)
	for _, dataHost := range []string{"198.51.100.1", "2001:db8::1"} {
		c := sending(dataHost)
		near.Do(t, func() {
			requireGood(t, checkPath(c))
			requireGood(t, checkDataPort(c))
		})
		taken := near.Listen(t, net.JoinHostPort(dataHost, "40123"))
		near.Do(t, func() { requireBad(t, checkDataPort(c), "40123", "ss -ltnp") })
		require.NoError(t, taken.Close())
	}
	command := exec.Command("ip", "link", "set", "data", "mtu", "1000")
	near.Start(t, command)
	require.NoError(t, command.Wait())
	near.Do(t, func() { requireBad(t, checkPath(sending("198.51.100.1")), "1000 bytes", "ip link set data mtu") })
	near.SetLink(t, "data", false)
	near.Do(t, func() { requireBad(t, checkPath(sending("198.51.100.1")), "is down", "ip link set data up") })
}

// TestTheDoctorNamesWhatTheHostLacksToRelay: both ports are tried, as split TCP needs the one and INTCP the other.
func TestTheDoctorNamesWhatTheHostLacksToRelay(t *testing.T) {
	near, far := hosttest.NewNamespace(t), hosttest.NewNamespace(t)
	hosttest.Join(t, near, far, []string{"198.51.100.1/24", "2001:db8::1/64"}, nil)
	for _, dataHost := range []string{"198.51.100.1", "2001:db8::1"} {
		c := sending(dataHost)
		c.Roles = []string{"relay"}
		where := net.JoinHostPort(dataHost, "40123")
		near.Do(t, func() {
			requireGood(t, checkDataPort(c))
			found := checkRelay(c)
			requireGood(t, found)
			require.Contains(t, found.sentence, where)
			require.Contains(t, found.sentence, "64 flows")
			require.NotContains(t, found.sentence, "UDP_GRO", "this kernel joins datagrams")
			require.NotContains(t, found.sentence, "rmem_max", "root may have buffers as large as it wants")
		})
		var taken net.PacketConn
		near.Do(t, func() {
			var err error
			taken, err = net.ListenPacket("udp", where)
			require.NoError(t, err)
			requireBad(t, checkRelay(c), where, "another program has the UDP port")
			requireGood(t, checkDataPort(c))
		})
		require.NoError(t, taken.Close())
		listener := near.Listen(t, where)
		near.Do(t, func() {
			requireBad(t, checkDataPort(c), "40123", "ss -ltnp")
			requireGood(t, checkRelay(c))
			c.RelayControl = "/run/link-relays.sock"
			requireGood(t, checkDataPort(c))
		})
		require.NoError(t, listener.Close())
	}
	plain := sayRelay("198.51.100.1:40123", 3, false, 416<<10)
	requireGood(t, plain)
	for _, part := range []string{"3 flows", "UDP_GRO", "416 kB", "net.core.rmem_max"} {
		require.Contains(t, plain.sentence, part)
	}
	require.NotContains(t, sayRelay("198.51.100.1:40123", 3, true, enoughSocketBytes).sentence, "rmem_max")
}

func TestTheDoctorNamesWhatTheHostLacks(t *testing.T) {
	c := sending("127.0.0.1")
	requireBad(t, checkHystart(protocol.Host{}, c), "modprobe tcp_cubic")
	requireBad(t, checkHystart(protocol.Host{Settings: map[string]string{hystart: "1"}}, c), "as root", "policy.settings")
	requireGood(t, checkHystart(protocol.Host{Settings: map[string]string{hystart: "1"}, SettingsWritable: []string{hystart}}, c))
	requireBad(t, checkBuffers(protocol.Host{SettingsWritable: []string{"net.ipv4.tcp_wmem"}}, c), "net.ipv4.tcp_rmem")
	requireGood(t, checkBuffers(protocol.Host{SettingsWritable: []string{"net.ipv4.tcp_wmem", "net.ipv4.tcp_rmem"}}, c))
	requireBad(t, checkVersion(protocol.Version+1), "install the downlink-agent of the server's release")
	requireBad(t, checkVersion(protocol.Version-1), "upgrade the server")
	requireGood(t, checkVersion(protocol.Version))
}

func TestTheDoctorNamesAPolicyThatCannotBeRead(t *testing.T) {
	c := sending("127.0.0.1")
	path := filepath.Join(t.TempDir(), "policy.yaml")
	requireGood(t, checkPolicy(&c, path))
	require.NoError(t, os.WriteFile(path, []byte("max_secnods: 60\n"), 0o600))
	requireBad(t, checkPolicy(&c, path), "max_secnods", "correct the file")
	require.NoError(t, os.WriteFile(path, []byte("max_seconds: 60\n"), 0o600))
	requireGood(t, checkPolicy(&c, path))
	require.InDelta(t, 60, c.Policy.MaxSeconds, 0)
}

func TestTheDoctorNamesADiskThatIsTooSmallAndASpoolThatIsFull(t *testing.T) {
	hosttest.OnSmallDisk(t, 64<<20, func(dir string) {
		c := sending("127.0.0.1")
		c.StateDir, c.LockDir = dir, dir
		keeper, bootID, err := agent.OpenKeeper(c, settings.LinuxHost{})
		require.NoError(t, err)
		facts, err := agent.HostFacts(c, keeper, bootID)
		require.NoError(t, err)
		requireBad(t, checkDisk(facts), "MB are free", "a larger disk")
		requireGood(t, checkWritable(dir))
		requireBad(t, checkWritable(filepath.Join(dir, "away")), "install -d")

		s, err := spool.Open(filepath.Join(dir, "spool"), 0)
		require.NoError(t, err)
		require.NoError(t, s.Put(spool.Key{RunID: "r", Attempt: 1, Flow: 1, Point: "sender"}, make([]byte, 1000)))
		requireGood(t, checkSpool(c))
		c.SpoolMaxBytes = 1024
		requireBad(t, checkSpool(c), "downlink-agent spool", "spool_max_bytes")
	})
}

func TestTheDoctorNamesAClockThatIsFarOff(t *testing.T) {
	requireGood(t, checkClock(time.Second))
	requireBad(t, checkClock(-2*time.Hour), "behind", "set the clock")
}
