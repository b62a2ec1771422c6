package trial

import "net/netip"

// What of the Internet's addresses leads into inner networks, or nowhere (IANA's registries of special-purpose addresses).
// 198.18.0.0/15 is among them there and not here: the hosts of emulated links have it. Nor are the ranges of documentation: no
// network behind a relay has them, and networks that play the Internet in trials do.
var (
	innerPrefixes = prefixes(
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.168.0.0/16", "240.0.0.0/4", "2001::/23",
	)
	// neverDialled are of this host's own cable, and where clouds tell their machines secrets: no measuring host is there.
	neverDialled  = prefixes("169.254.0.0/16", "fe80::/10", "100.100.100.200/32", "fd00:ec2::254/128")
	globalUnicast = netip.MustParsePrefix("2000::/3") // all that IPv6 has of it
	nat64         = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour     = netip.MustParsePrefix("2002::/16")
)

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// isPublic tells whether everywhere that packets to a host may go is of the public Internet.
func isPublic(host netip.Addr) bool {
	for _, face := range faces(host) {
		if face.Is6() && !globalUnicast.Contains(face) {
			return false
		}
		for _, inner := range innerPrefixes {
			if inner.Contains(face) {
				return false
			}
		}
	}
	return true
}

// refuseAny keeps every flow from addresses that no measuring host has, in anybody's order.
func refuseAny(host netip.Addr) error {
	for _, face := range faces(host) {
		if face.IsUnspecified() || face.IsMulticast() {
			return refuse("%s is not an address of a host", host)
		}
		for _, never := range neverDialled {
			if never.Contains(face) {
				return refuse("%s is link-local, or where a cloud tells its machines secrets; nothing is dialled there", host)
			}
		}
	}
	return nil
}

// faces are where packets to a host go: IPv6 may carry an IPv4 address, to which a gateway on the way sends them.
func faces(host netip.Addr) []netip.Addr {
	host = host.WithZone("").Unmap()
	bytes := host.As16()
	switch {
	case nat64.Contains(host):
		return []netip.Addr{netip.AddrFrom4([4]byte(bytes[12:]))}
	case sixToFour.Contains(host):
		return []netip.Addr{host, netip.AddrFrom4([4]byte(bytes[2:]))}
	}
	return []netip.Addr{host}
}
