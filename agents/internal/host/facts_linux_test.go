package host

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"

	"downlink/agents/internal/testing/hosttest"
)

func TestFactsAreThoseOfTheRunningSystem(t *testing.T) {
	facts := Read()
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(string(release)), facts.Kernel)
	require.Positive(t, facts.CPUs)
	require.NotEmpty(t, facts.OS)
	require.NotEmpty(t, facts.Hostname)
}

func TestThePathIsTheInterfaceThatHasTheAddress(t *testing.T) {
	near, far := hosttest.NewNamespace(t), hosttest.NewNamespace(t)
	hosttest.Join(t, near, far, []string{"198.51.100.1/24"}, nil)
	near.Do(t, func() {
		path := ReadPath("198.51.100.1", "")
		require.Equal(t, "data", path.Interface)
		require.Equal(t, "noqueue", path.Qdisc)
		require.Contains(t, path.Offloads, "gso")
		require.Empty(t, path.Route, "no peer, no route")
		require.Equal(t, 1500, path.MTUBytes)
		toPeer := ReadPath("203.0.113.1", "198.51.100.2")
		require.Equal(t, "198.51.100.2 dev data src 198.51.100.1", toPeer.Route)
		toPeer.Route = ""
		require.Equal(t, path, toPeer, "behind a NAT the route to the peer tells")
		require.Empty(t, ReadPath("203.0.113.1", "").Interface)
		require.True(t, HasAddress("198.51.100.1"))
		require.False(t, HasAddress("198.51.100.2"))
		address, err := AddressTowards("198.51.100.2:8000")
		require.NoError(t, err)
		require.Equal(t, "198.51.100.1", address)
	})
}

func TestTheRouteNamesItsGatewayAndItsOwnMTU(t *testing.T) {
	near, far := hosttest.NewNamespace(t), hosttest.NewNamespace(t)
	hosttest.Join(t, near, far, []string{"198.51.100.1/24", "2001:db8::1/64"}, nil)
	near.Do(t, func() {
		device, err := netlink.LinkByName("data")
		require.NoError(t, err)
		for _, route := range []struct{ to, via string }{{"203.0.113.0/24", "198.51.100.254"}, {"2001:db8:1::/64", "2001:db8::fe"}} {
			to, err := netlink.ParseIPNet(route.to)
			require.NoError(t, err)
			require.NoError(t, netlink.RouteAdd(&netlink.Route{LinkIndex: device.Attrs().Index, Dst: to, Gw: net.ParseIP(route.via), MTU: 1400}))
		}
		path := ReadPath("198.51.100.1", "203.0.113.7")
		require.Equal(t, "203.0.113.7 via 198.51.100.254 dev data src 198.51.100.1", path.Route)
		require.Equal(t, 1400, path.MTUBytes)
		require.Equal(t, "2001:db8:1::7 via 2001:db8::fe dev data src 2001:db8::1", ReadPath("2001:db8::1", "2001:db8:1::7").Route)
	})
}

// A host with two uplinks: its default route decides, and not the interface with the address that it was told.
func TestTheWayIsTheRoutesAndNotTheAddresses(t *testing.T) {
	near, satellite, cable := hosttest.NewNamespace(t), hosttest.NewNamespace(t), hosttest.NewNamespace(t)
	hosttest.JoinAs(t, near, "sat", "198.51.100.1/24", satellite, "data", "198.51.100.254/24")
	hosttest.JoinAs(t, near, "lan", "10.9.0.2/24", cable, "data", "10.9.0.1/24")
	near.Do(t, func() {
		device, err := netlink.LinkByName("lan")
		require.NoError(t, err)
		require.Empty(t, DefaultInterface())
		everything, err := netlink.ParseIPNet("0.0.0.0/0")
		require.NoError(t, err)
		byCable := &netlink.Route{LinkIndex: device.Attrs().Index, Dst: everything, Gw: net.ParseIP("10.9.0.1")}
		require.NoError(t, netlink.RouteAdd(byCable))
		require.Equal(t, "lan", DefaultInterface())
		require.Equal(t, "sat", ReadPath("198.51.100.1", "").Interface, "without a peer there is only the address")

		dialled, known := WayTo("", "203.0.113.7")
		require.True(t, known)
		require.Equal(t, Way{Source: "10.9.0.2", Interface: "lan", NextHop: "10.9.0.1"}, dialled)
		path := ReadPath("", "203.0.113.7")
		require.Equal(t, []string{"lan", "203.0.113.7 via 10.9.0.1 dev lan src 10.9.0.2"}, []string{path.Interface, path.Route})

		bound, known := WayTo("198.51.100.1", "203.0.113.7")
		require.True(t, known)
		require.Equal(t, Way{Source: "198.51.100.1", Interface: "lan", NextHop: "10.9.0.1"}, bound, "an address alone moves no packet")

		satellite, err := netlink.LinkByName("sat")
		require.NoError(t, err)
		there, err := netlink.ParseIPNet("203.0.113.0/24")
		require.NoError(t, err)
		require.NoError(t, netlink.RouteAdd(&netlink.Route{LinkIndex: satellite.Attrs().Index, Dst: there, Gw: net.ParseIP("198.51.100.254")}))
		changed, _ := WayTo("", "203.0.113.7")
		require.Equal(t, Way{Source: "198.51.100.1", Interface: "sat", NextHop: "198.51.100.254"}, changed)
		_, known = WayTo("", "a-name.example")
		require.False(t, known)
	})
}

func TestFreeBytesOfAFolder(t *testing.T) {
	free, err := FreeBytes(t.TempDir())
	require.NoError(t, err)
	require.Positive(t, free)
	_, err = FreeBytes("/nonexistent")
	require.Error(t, err)
}
