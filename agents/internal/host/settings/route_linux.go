package settings

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// ownRoute marks the host routes made here. They are added beside the host's own routes, so none of those is ever
// altered, and restoring means deleting. The number is free in /etc/iproute2/rt_protos.
const ownRoute netlink.RouteProtocol = 212

// getRoute returns the attribute of the route that leads to the peer; 0 means that the kernel's default holds.
func getRoute(key Key) (string, error) {
	peer, err := parsePeer(key)
	if err != nil {
		return "", err
	}
	best, err := findRoute(peer)
	if err != nil {
		return "", err
	}
	return strconv.Itoa(*attribute(best, key.Name)), nil
}

// setRoute changes the attribute on a host route of our own; when no attribute differs any more the route goes.
func setRoute(key Key, text string) error {
	peer, err := parsePeer(key)
	if err != nil {
		return err
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < 0 {
		return fmt.Errorf("%s must be a whole number of segments, not %q", key.Name, text)
	}
	base, err := baseRoute(peer)
	if err != nil {
		return err
	}
	wanted := *base
	if own, err := findOwn(peer); err == nil && own != nil {
		wanted = *own
	}
	*attribute(&wanted, key.Name) = value
	if wanted.InitCwnd == base.InitCwnd && wanted.InitRwnd == base.InitRwnd {
		return deleteOwn(peer)
	}
	return replaceOwn(peer, wanted)
}

func replaceOwn(peer net.IP, route netlink.Route) error {
	route.Dst, route.Protocol, route.ILinkIndex = hostNet(peer), ownRoute, 0
	route.Flags &^= unix.RTM_F_CLONED
	if err := netlink.RouteReplace(&route); err != nil {
		return fmt.Errorf("set route to %s: %w", peer, err)
	}
	return nil
}

func deleteOwn(peer net.IP) error {
	own, err := findOwn(peer)
	if err != nil || own == nil {
		return err
	}
	if err := netlink.RouteDel(own); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("remove route to %s: %w", peer, err)
	}
	return nil
}

func parsePeer(key Key) (net.IP, error) {
	peer := net.ParseIP(key.Peer)
	if peer == nil {
		return nil, fmt.Errorf("%s needs the peer's address: %w", key.Name, ErrNotSupported)
	}
	return peer, nil
}

func attribute(route *netlink.Route, name string) *int {
	if name == RouteInitCwnd {
		return &route.InitCwnd
	}
	return &route.InitRwnd
}

func hostNet(peer net.IP) *net.IPNet {
	if v4 := peer.To4(); v4 != nil {
		return &net.IPNet{IP: v4, Mask: net.CIDRMask(32, 32)}
	}
	return &net.IPNet{IP: peer, Mask: net.CIDRMask(128, 128)}
}

func family(peer net.IP) int {
	if peer.To4() != nil {
		return netlink.FAMILY_V4
	}
	return netlink.FAMILY_V6
}

func findRoute(peer net.IP) (*netlink.Route, error) {
	if own, err := findOwn(peer); err != nil || own != nil {
		return own, err
	}
	return baseRoute(peer)
}

func findOwn(peer net.IP) (*netlink.Route, error) {
	filter := &netlink.Route{Dst: hostNet(peer), Protocol: ownRoute, Table: unix.RT_TABLE_MAIN}
	mask := netlink.RT_FILTER_DST | netlink.RT_FILTER_PROTOCOL | netlink.RT_FILTER_TABLE
	routes, err := netlink.RouteListFiltered(family(peer), filter, mask)
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	if len(routes) == 0 {
		return nil, nil // none is a good answer
	}
	return &routes[0], nil
}

// baseRoute is the longest match among the host's own routes in the main table.
func baseRoute(peer net.IP) (*netlink.Route, error) {
	routes, err := netlink.RouteList(nil, family(peer))
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	var best *netlink.Route
	longest := -1
	for i, route := range routes {
		if route.Protocol == ownRoute || route.Dst != nil && !route.Dst.Contains(peer) {
			continue
		}
		if length := prefixLength(route.Dst); length > longest {
			best, longest = &routes[i], length
		}
	}
	if best == nil {
		return nil, fmt.Errorf("no route leads to %s: %w", peer, ErrNotSupported)
	}
	return best, nil
}

func prefixLength(dst *net.IPNet) int {
	if dst == nil {
		return 0
	}
	length, _ := dst.Mask.Size()
	return length
}

func mayChangeRoutes() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_NET_ADMIN) != 0
}
