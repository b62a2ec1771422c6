package netlab

import (
	"fmt"
	"net/netip"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/pump"
)

// routersOf are the routers of a profile as places.
func routersOf(profile emulate.Profile) (places []place, err error) {
	most := len(profile.Hops) - 1
	if most < 1 || most > maxRouters {
		return nil, fmt.Errorf("profile %s has %d routers between hops, and a link whose routers are hosts has 1 to %d: "+
			"use a profile with 2 to %d hops",
			profile.Name, max(0, most), maxRouters, maxRouters+1)
	}
	for number := range most {
		places = append(places, routerPlace(number+1))
	}
	return places, nil
}

// wireInside gives each host that is between the hops of a link, or behind the receiver, a device, and the gateway's side ways
// to its addresses.
func (l *Lab) wireInside(spaces namespaces, places []place) (hosts []pump.Host, err error) {
	for _, p := range places {
		near, host := l.nets.data(p)
		near6, host6 := l.nets.data6(p)
		device, err := makeTun(spaces[p], host, host6)
		if err != nil {
			return nil, err
		}
		l.undo = append(l.undo, func() error { device.Close(); return nil })
		if err := inside(spaces[p], func() error { return routeAllVia("data", near, near6) }); err != nil {
			return nil, err
		}
		addresses := []netip.Addr{host.Addr(), host6.Addr()}
		for _, address := range addresses {
			if err := inside(spaces[gateway], func() error { return routeOver("data", address) }); err != nil {
				return nil, err
			}
		}
		hosts = append(hosts, pump.Host{Device: device, Addresses: addresses})
	}
	return hosts, nil
}
