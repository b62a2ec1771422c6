package netlab

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/pep"
)

// startPep starts the proxy that the profile asks for, in the gateway.
func (l *Lab) startPep(spaces namespaces) error {
	asked := l.options.Profile.Pep
	if asked == nil {
		return nil
	}
	if err := l.prepareForPep(spaces[gateway], asked); err != nil {
		return err
	}
	ns, err := netns.GetFromName(gateway.namespace(l.Name)) // open as long as the proxy lives; spaces is closed before
	if err != nil {
		return fmt.Errorf("open the gateway: %w", err)
	}
	l.undo = append(l.undo, ns.Close)
	_, receiver := l.nets.data(0)
	_, receiver6 := l.nets.data6(0)
	l.proxy, err = pep.Start(pep.Options{
		Within: func(call func() error) error { return inside(ns, call) },
		IsSatellite: func(address netip.Addr) bool {
			return address.Unmap() == receiver.Addr() || address == receiver6.Addr()
		},
		Satellite:       pep.Segment{Control: asked.Satellite.Cc},
		Terrestrial:     pep.Segment{Control: asked.Terrestrial.Cc},
		MostConnections: asked.MostConnections,
		DeadAfter:       asked.DeadAfter(),
	})
	if err != nil {
		return err
	}
	l.undo = append(l.undo, l.proxy.Close)
	return nil
}

// Proxied counts what the link's proxy did: connections that were joined from end to end, that were reset because there were
// too many, and whose far end could not be reached. Zeros without a proxy.
func (l *Lab) Proxied() (joined, refused, failed uint64) {
	if l.proxy == nil {
		return 0, 0, 0
	}
	return l.proxy.Proxied(), l.proxy.Refused(), l.proxy.Failed()
}

// prepareForPep bounds what a connection of the gateway's may keep, and has each begin without memories of earlier ones.
func (l *Lab) prepareForPep(ns netns.NsHandle, asked *emulate.Pep) error {
	for path, value := range map[string]string{
		"ipv4/tcp_wmem":            fmt.Sprintf("4096 16384 %d", asked.BufferBytes),
		"ipv4/tcp_rmem":            fmt.Sprintf("4096 131072 %d", max(131072, asked.BufferBytes)),
		"ipv4/tcp_no_metrics_save": "1",
	} {
		if err := setSysctl(ns, path, value); err != nil {
			return fmt.Errorf("prepare the gateway for its proxy: %w", err)
		}
	}
	return inside(ns, func() error {
		errs := []error{setInitialWindow("data", asked.Satellite.InitialWindowSegments)}
		for _, p := range l.hosts[1:] {
			errs = append(errs, setInitialWindow(p.suffix(), asked.Terrestrial.InitialWindowSegments))
		}
		return errors.Join(errs...)
	})
}

// setInitialWindow lets connections over a device of the thread's namespace begin with so many segments; 0: as the kernel has it.
func setInitialWindow(name string, segments int) error {
	if segments == 0 {
		return nil
	}
	device, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find device %s: %w", name, err)
	}
	for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
		routes, err := netlink.RouteList(device, family)
		if err != nil {
			return fmt.Errorf("list the routes of %s: %w", name, err)
		}
		for _, route := range routes {
			route.InitCwnd = segments
			if err := netlink.RouteReplace(&route); err != nil {
				return fmt.Errorf("set the initial window of %s: %w", name, err)
			}
		}
	}
	return nil
}
