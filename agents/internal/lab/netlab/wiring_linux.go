package netlab

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"downlink/agents/internal/lab/pump"
)

const (
	mtuBytes = 1500
	// tunQueueLength is how many packets wait between the kernel and the pump. A whole window may arrive at once; with
	// the default of 500 the device would drop it before the emulated queue, which alone must decide, ever saw it.
	tunQueueLength = 32768
)

// tag is kept as the alias of a link's hub devices: the kernel itself remembers whose they are, and forgets it with them.
type tag struct {
	Link    string `json:"link"`
	Profile string `json:"profile"`
	Pid     int    `json:"pid"`
}

// wireManagement gives each host a wire to the hub, apart from the link under test.
func (l *Lab) wireManagement(spaces namespaces) error {
	if err := l.claimIndex(spaces); err != nil {
		return err
	}
	for _, p := range l.hosts[1:] {
		if err := addHubWire(l.nets, p, spaces[p]); err != nil {
			return err
		}
	}
	mark, err := json.Marshal(tag{l.Name, l.options.Profile.Name, os.Getpid()})
	if err != nil {
		return fmt.Errorf("mark the link's devices: %w", err)
	}
	for _, p := range l.hosts {
		if err := l.raiseManagement(p, spaces[p], string(mark)); err != nil {
			return fmt.Errorf("wire %s to the hub: %w", p.host(), err)
		}
	}
	return nil
}

// claimIndex takes the first free index from the preferred one on: whose receiver wire could be made owns it.
func (l *Lab) claimIndex(spaces namespaces) error {
	for i := range indexes {
		nets := subnets{(preferredIndex(l.Name) + i) % indexes}
		err := addHubWire(nets, 0, spaces[0])
		if errors.Is(err, os.ErrExist) {
			continue
		}
		l.nets = nets
		return err
	}
	return fmt.Errorf("%d links are up already", indexes)
}

func addHubWire(nets subnets, p place, ns netns.NsHandle) error {
	name := nets.hubDevice(p)
	wire := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: "mgmt", PeerNamespace: netlink.NsFd(ns)}
	if err := netlink.LinkAdd(wire); err != nil {
		return fmt.Errorf("make device %s: %w", name, err)
	}
	return nil
}

// raiseManagement gives both ends of a host's management wire their addresses. The hub's address is the same on each
// wire; the peer's tells the wires apart.
func (l *Lab) raiseManagement(p place, ns netns.NsHandle, mark string) error {
	name := l.nets.hubDevice(p)
	device, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	l.undo = append(l.undo, func() error { return removeDevice(name) })
	if err := netlink.LinkSetAlias(device, mark); err != nil {
		return err
	}
	hub, host := single(l.nets.hub()), single(l.nets.management(p))
	if err := raise(name, hub, host); err != nil {
		return err
	}
	return inside(ns, func() error { return raise("mgmt", host, hub) })
}

func removeDevice(name string) error {
	device, err := netlink.LinkByName(name)
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		return nil // it went with the namespace of its peer
	}
	if err == nil {
		err = netlink.LinkDel(device)
	}
	if err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("remove device %s: %w", name, err)
	}
	return nil
}

// wireSender joins a sender to the gateway.
func wireSender(nets subnets, p place, spaces namespaces) error {
	near, host := nets.data(p)
	near6, host6 := nets.data6(p)
	wire := p.suffix()
	err := inside(spaces[gateway], func() error {
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: wire, MTU: mtuBytes}, PeerName: "data",
			PeerNamespace: netlink.NsFd(spaces[p])}
		if err := netlink.LinkAdd(pair); err != nil {
			return err
		}
		return raise(wire, near, netip.Prefix{}, near6)
	})
	if err == nil {
		err = inside(spaces[p], func() error {
			if err := raise("data", host, netip.Prefix{}, host6); err != nil {
				return err
			}
			return routeAllVia("data", near, near6)
		})
	}
	if err != nil {
		return fmt.Errorf("wire %s to the gateway: %w", p.host(), err)
	}
	return nil
}

// makeTun makes the TUN device "data" of one side of the link.
func makeTun(ns netns.NsHandle, address, address6 netip.Prefix) (device pump.Device, err error) {
	err = inside(ns, func() error {
		if device, err = pump.OpenDevice("data"); err != nil {
			return err
		}
		link, err := netlink.LinkByName("data")
		if err != nil {
			return err
		}
		if err := netlink.LinkSetTxQLen(link, tunQueueLength); err != nil {
			return err
		}
		return raise("data", address, netip.Prefix{}, address6)
	})
	if err != nil {
		return device, fmt.Errorf("set up the TUN device: %w", err)
	}
	return device, nil
}

// raise gives a device of the thread's namespace its addresses and takes it up. peer may be empty.
func raise(name string, address, peer netip.Prefix, more ...netip.Prefix) error {
	device, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find device %s: %w", name, err)
	}
	for i, prefix := range append([]netip.Prefix{address}, more...) {
		entry := &netlink.Addr{IPNet: ipNet(prefix)}
		if i == 0 && peer.IsValid() {
			entry.Peer = ipNet(peer)
		}
		if prefix.Addr().Is6() {
			entry.Flags = unix.IFA_F_NODAD // nobody else is on the wire; usable at once
		}
		if err := netlink.AddrAdd(device, entry); err != nil {
			return fmt.Errorf("give %s to device %s: %w", prefix, name, err)
		}
	}
	if err := netlink.LinkSetUp(device); err != nil {
		return fmt.Errorf("take device %s up: %w", name, err)
	}
	return nil
}

// routeAllVia sends whatever is not for a neighbour to the gateway's end of a wire.
func routeAllVia(name string, gateways ...netip.Prefix) error {
	device, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find device %s: %w", name, err)
	}
	for _, via := range gateways {
		all := &net.IPNet{IP: make(net.IP, via.Addr().BitLen()/8), Mask: make(net.IPMask, via.Addr().BitLen()/8)}
		route := &netlink.Route{LinkIndex: device.Attrs().Index, Dst: all, Gw: via.Addr().AsSlice()}
		if err := netlink.RouteAdd(route); err != nil {
			return fmt.Errorf("route via %s: %w", via.Addr(), err)
		}
	}
	return nil
}

// routeOver leads to a host that is somewhere behind a device.
func routeOver(name string, host netip.Addr) error {
	device, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.RouteAdd(&netlink.Route{LinkIndex: device.Attrs().Index, Dst: ipNet(single(host)), Scope: netlink.SCOPE_LINK})
	}
	if err != nil {
		return fmt.Errorf("route to %s: %w", host, err)
	}
	return nil
}

func ipNet(prefix netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())}
}
