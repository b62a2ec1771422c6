package trial

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/server/protocol"
)

func TestARelayReachesThePublicInternetAlone(t *testing.T) {
	refused := []string{
		"0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.8.9.1", "169.254.169.254", "172.16.0.1",
		"172.31.255.255", "192.0.0.1", "192.168.1.1", "224.0.0.1", "239.1.1.1", "240.0.0.1",
		"255.255.255.255", "::", "::1", "::10.0.0.1", "100::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "fec0::1", "feff::1",
		"ff02::1", "2001::1", "2001:2::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:100.64.0.1",
		"64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b::6440:1", "64:ff9b::e000:1", "64:ff9b:1::a00:1", "64:ff9b:1::808:808",
		"2002:7f00:1::", "2002:a00:1::1", "2002:6440:1::1", "2002:e000:1::1",
	}
	for _, text := range refused {
		require.Error(t, refuseNeighbour(netip.MustParseAddr(text), config.Policy{}), text)
	}
	taken := []string{
		"8.8.8.8", "100.63.255.255", "100.128.0.0", "172.32.0.1", "198.18.0.1", "198.19.255.255", "198.20.0.1", "2a00:1450:4001::1",
		"2001:4860::1",
		"::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2003::1", "192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1",
	}
	for _, text := range taken {
		require.NoError(t, refuseNeighbour(netip.MustParseAddr(text), config.Policy{}), text)
	}
	for _, text := range []string{"10.1.2.3", "100.64.0.1", "127.0.0.1", "fd12::1", "64:ff9b::a00:1"} {
		require.NoError(t, refuseNeighbour(netip.MustParseAddr(text), config.Policy{RelayPrivate: true}), text)
	}
	for _, text := range []string{"0.0.0.0", "224.0.0.1", "::", "ff02::1", "64:ff9b::e000:1", "fe80::1%eth0", "169.254.169.254"} {
		require.Error(t, refuseNeighbour(netip.MustParseAddr(text), config.Policy{RelayPrivate: true}), text)
	}
}

// Whatever a sender says of itself, a receiver dials no address at which no measuring host is, and none of its own network where the
// owner does not measure there: plain, mapped, and inside NAT64 and 6to4.
func TestAReceiverIsNotSteeredIntoItsOwnNetwork(t *testing.T) {
	never := []string{
		"169.254.169.254", "169.254.1.1", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "100.100.100.200", "0.0.0.0", "::", "224.0.0.1", "ff02::1",
		"::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "2002:a9fe:a9fe::1", "127.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1",
		"2002:7f00:1::",
	}
	inner := []string{"10.0.0.1", "172.16.3.4", "192.168.1.1", "100.64.0.7", "fd12::1", "64:ff9b::10.0.0.1", "2002:c0a8:101::1"}
	for _, publicOnly := range []bool{false, true} {
		trial := &Trial{order: &protocol.Prepare{}, env: Env{Config: config.Config{DataHost: "203.0.113.7",
			Policy: config.Policy{PublicOnly: publicOnly}}}}
		for _, role := range []protocol.Role{protocol.RoleReceiver, protocol.RoleRelay} {
			may := trial.mayDial(protocol.Flow{Role: role})
			for _, text := range never {
				require.Error(t, may(netip.MustParseAddr(text)), text)
			}
			require.NoError(t, may(netip.MustParseAddr("203.0.113.9")))
			require.NoError(t, may(netip.MustParseAddr("2a00::1")))
		}
		for _, text := range inner {
			err := trial.mayDial(protocol.Flow{Role: protocol.RoleReceiver})(netip.MustParseAddr(text))
			if publicOnly {
				require.ErrorContains(t, err, "public_only", text)
			} else {
				require.NoError(t, err, "laboratories measure within their own networks: %s", text)
			}
		}
	}
	home := &Trial{order: &protocol.Prepare{}, env: Env{Config: config.Config{DataHost: "127.0.0.1"}}}
	require.NoError(t, home.mayDial(protocol.Flow{Role: protocol.RoleReceiver})(netip.MustParseAddr("127.0.0.1")), "both ends on one host")
}
