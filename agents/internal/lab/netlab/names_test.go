package netlab

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
)

func TestAddressesOfAllLinksDiffer(t *testing.T) {
	seen := map[netip.Addr]bool{}
	for index := range indexes {
		nets := subnets{index}
		require.False(t, seen[nets.hub()])
		seen[nets.hub()] = true
		for p := range branchPlace(emulate.MostBranches) + 1 {
			near, host := nets.data(p)
			near6, host6 := nets.data6(p)
			for _, address := range []netip.Addr{near.Addr(), host.Addr(), near6.Addr(), host6.Addr(), nets.management(p)} {
				require.False(t, seen[address], "%v of link %d", address, index)
				seen[address] = true
			}
			require.Equal(t, near.Masked(), host.Masked(), "both ends are neighbours")
			require.Equal(t, near6.Masked(), host6.Masked())
			require.LessOrEqual(t, len(nets.hubDevice(p)), 15, "the kernel's limit")
		}
	}
}

func TestNamespaceNamesReadBack(t *testing.T) {
	for _, link := range []string{"a", "a-rx", "demo-s1", "x-gw"} {
		for _, p := range []place{gateway, 0, 1, maxSenders, routerPlace(1), routerPlace(maxRouters), branchPlace(1),
			branchPlace(emulate.MostBranches)} {
			parts := namespaceName.FindStringSubmatch(p.namespace(link))
			require.Equal(t, []string{link, p.suffix()}, parts[1:])
			require.Equal(t, p, placeOf(parts[2]))
		}
	}
	require.Nil(t, namespaceName.FindStringSubmatch("other-rx"), "namespaces of others are left alone")
}

func TestLinkNamesAreChecked(t *testing.T) {
	require.NoError(t, checkName("demo-2"))
	for _, name := range []string{"", "-a", "Demo", "a/b", "a b", "abcdefghijklmnopqrstuvwxyz0123456789"} {
		require.ErrorContains(t, checkName(name), "a link's name is")
	}
}
