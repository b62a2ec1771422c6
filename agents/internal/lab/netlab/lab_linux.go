package netlab

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/linkserver"
	"downlink/agents/internal/lab/pep"
	"downlink/agents/internal/lab/pump"
)

// Options say what link to build.
type Options struct {
	Name    string
	Profile emulate.Profile
	Seed    uint64
	Senders int
	// Control is where control traffic of the hosts is forwarded to: host:port, unix:/path, or empty for nowhere.
	Control string
	// Log is where the link's log goes, a row for each way and 10 ms; nil for nowhere.
	Log io.Writer
	// LinkControl is the path of the link's control socket; empty for none.
	LinkControl string
	// RelayControl is the path of the socket at which the link's relays take orders; empty for none. A link of one hop has none.
	RelayControl string
	// HasRouters: each router between two hops of the profile is a host. The link has no relays of its own then.
	HasRouters bool
}

// Lab is an emulated link that is up: its namespaces, devices, pump and control forwarder.
type Lab struct {
	Name    string
	options Options
	nets    subnets
	hosts   []place
	routers []place  // of the hosts, from the gateway on
	further []place  // likewise: the receivers behind the first
	made    []string // namespaces: a link that was refused must not touch those of its namesake
	pump    *pump.Pump
	forward *forwarder
	proxy   *pep.Proxy // nil: the profile has none
	undo    []func() error
}

// HostInfo tells how to reach a host of a link.
type HostInfo struct {
	Namespace  string `json:"netns"`
	DataHost   string `json:"data_host"`
	DataHost6  string `json:"data_host6"`
	ControlURL string `json:"control_url,omitempty"`
}

// Address is where the host is reached over the link.
func (h HostInfo) Address() string { return h.DataHost }

// Within calls a function in the host's namespace. Sockets that it opens stay there.
func (h HostInfo) Within(call func() error) error {
	ns, err := netns.GetFromName(h.Namespace)
	if err != nil {
		return fmt.Errorf("open namespace %s: %w", h.Namespace, err)
	}
	defer func() { _ = ns.Close() }()
	return inside(ns, call)
}

// Up builds a link and starts it. Whatever fails, nothing stays behind.
func Up(options Options) (lab *Lab, err error) {
	if err := checkName(options.Name); err != nil {
		return nil, err
	}
	if options.Senders < 1 || options.Senders > maxSenders {
		return nil, fmt.Errorf("a link has 1 to %d senders, not %d", maxSenders, options.Senders)
	}
	if err := pump.Check(options.Profile); err != nil {
		return nil, err
	}
	lab = &Lab{Name: options.Name, options: options}
	for i := range options.Senders + 1 {
		lab.hosts = append(lab.hosts, place(i))
	}
	if options.HasRouters {
		if lab.routers, err = routersOf(options.Profile); err != nil {
			return nil, err
		}
		lab.hosts = append(lab.hosts, lab.routers...)
		if len(options.Profile.Receivers) > 0 {
			return nil, fmt.Errorf("the routers of a link with further receivers, as profile %s has, cannot be hosts: "+
				"its relays carry INTCP between the hops", options.Profile.Name)
		}
	}
	for i := range options.Profile.Receivers {
		lab.further = append(lab.further, branchPlace(i+1))
	}
	lab.hosts = append(lab.hosts, lab.further...)
	if err := lab.build(); err != nil {
		return nil, errors.Join(fmt.Errorf("build link %s: %w", options.Name, err), lab.Close())
	}
	return lab, nil
}

func (l *Lab) build() error {
	spaces, err := l.makeNamespaces()
	defer func() {
		for _, ns := range spaces {
			_ = ns.Close()
		}
	}()
	if err != nil {
		return err
	}
	if err := l.wireManagement(spaces); err != nil {
		return err
	}
	if l.options.Control != "" {
		if l.forward, err = startForwarder(l.nets.hub(), l.options.Control); err != nil {
			return err
		}
		l.undo = append(l.undo, l.forward.Close)
	}
	for _, p := range l.hosts[1 : l.options.Senders+1] {
		if err := wireSender(l.nets, p, spaces); err != nil {
			return err
		}
	}
	if err := l.startPump(spaces); err != nil {
		return err
	}
	return l.startPep(spaces)
}

type namespaces map[place]netns.NsHandle

func (l *Lab) makeNamespaces() (namespaces, error) {
	spaces := namespaces{}
	for _, p := range append([]place{gateway}, l.hosts...) {
		name := p.namespace(l.Name)
		ns, err := makeNamespace(name)
		if err != nil {
			return spaces, err
		}
		spaces[p] = ns
		l.made = append(l.made, name)
		l.undo = append(l.undo, func() error { return removeNamespace(name) })
		if err := inside(ns, raiseLoopback); err != nil {
			return spaces, err
		}
	}
	return spaces, forwardPackets(spaces[gateway])
}

func raiseLoopback() error {
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find loopback: %w", err)
	}
	return netlink.LinkSetUp(loopback)
}

func forwardPackets(ns netns.NsHandle) error {
	for _, path := range []string{"ipv4/ip_forward", "ipv6/conf/all/forwarding"} {
		if err := setSysctl(ns, path, "1"); err != nil {
			return fmt.Errorf("let the gateway forward: %w", err)
		}
	}
	return nil
}

func (l *Lab) startPump(spaces namespaces) error {
	near, host := l.nets.data(0)
	near6, host6 := l.nets.data6(0)
	gatewayTun, err := makeTun(spaces[gateway], near, near6)
	if err != nil {
		return err
	}
	l.undo = append(l.undo, func() error { gatewayTun.Close(); return nil })
	receiverTun, err := makeTun(spaces[0], host, host6)
	if err != nil {
		return err
	}
	l.undo = append(l.undo, func() error { receiverTun.Close(); return nil })
	if err := inside(spaces[0], func() error { return routeAllVia("data", near, near6) }); err != nil {
		return err
	}
	made := pump.Options{
		Name: l.Name, Profile: l.options.Profile, Seed: l.options.Seed, Log: l.options.Log, Gateway: gatewayTun,
		Receiver: pump.Host{Device: receiverTun, Addresses: []netip.Addr{host.Addr(), host6.Addr()}},
	}
	if made.Routers, err = l.wireInside(spaces, l.routers); err != nil {
		return err
	}
	if made.Further, err = l.wireInside(spaces, l.further); err != nil {
		return err
	}
	if l.HasRelays() {
		made.RelayHost = l.nets.relays()
	}
	if l.pump, err = pump.Start(made); err != nil {
		return err
	}
	l.undo = append(l.undo, l.pump.Stop)
	if err := l.startRelayControl(spaces); err != nil {
		return err
	}
	return l.startLinkControl()
}

// HasRelays tells whether relays were asked for and there is a place between two hops for them.
func (l *Lab) HasRelays() bool {
	return l.options.RelayControl != "" && !l.options.HasRouters && l.options.Profile.MostHops() > 1
}

// startRelayControl lets the ends reach the relays at the link's sites, and an agent give those orders.
func (l *Lab) startRelayControl(spaces namespaces) error {
	if !l.HasRelays() {
		return nil
	}
	host := l.nets.relays()
	if err := inside(spaces[gateway], func() error { return routeOver("data", host) }); err != nil {
		return err
	}
	server, err := linkserver.ListenRelays(l.options.RelayControl, l.pump)
	if err != nil {
		return err
	}
	l.undo = append(l.undo, server.Close)
	return nil
}

func (l *Lab) startLinkControl() error {
	if l.options.LinkControl == "" {
		return nil
	}
	server, err := linkserver.Listen(l.options.LinkControl, l.pump)
	if err != nil {
		return err
	}
	l.undo = append(l.undo, server.Close)
	return nil
}

// Ended is closed when the pump ends, by Close or by itself; Close then says why.
func (l *Lab) Ended() <-chan struct{} { return l.pump.Ended() }

// Note tells of every packet, on the pump's own thread. It is for tests of what measures packets.
func (l *Lab) Note(note func(pump.Passage)) error { return l.pump.Note(note, nil) }

// Counts returns what the link did so far, towards the receiver and back.
func (l *Lab) Counts() (down, up emulate.Counts) {
	return l.pump.Counts(emulate.Gateway, emulate.Receiver), l.pump.Counts(emulate.Receiver, emulate.Gateway)
}

// Hosts tells how to reach each host, by its name.
func (l *Lab) Hosts() map[string]HostInfo {
	infos := map[string]HostInfo{}
	for _, p := range l.hosts {
		infos[p.host()] = l.nets.info(l.Name, p, l.ControlURL())
	}
	if l.HasRelays() { // their agent lives at the receiver
		infos[Relays] = HostInfo{place(0).namespace(l.Name), l.nets.relays().String(), "", l.ControlURL()}
	}
	return infos
}

// ControlURL is where the hosts find the backend; empty without one.
func (l *Lab) ControlURL() string {
	if l.forward == nil {
		return ""
	}
	return "http://" + l.forward.address().String()
}

func (s subnets) info(link string, p place, controlURL string) HostInfo {
	_, host := s.data(p)
	_, host6 := s.data6(p)
	return HostInfo{p.namespace(link), host.Addr().String(), host6.Addr().String(), controlURL}
}

// Close removes everything in the opposite order of its making. Processes in the namespaces are ended first: agents
// among them get the time to put their host back.
func (l *Lab) Close() error {
	errs := []error{endProcesses(l.made)}
	for _, undo := range slices.Backward(l.undo) {
		errs = append(errs, undo())
	}
	l.undo, l.made = nil, nil
	return errors.Join(errs...)
}

func single(address netip.Addr) netip.Prefix { return netip.PrefixFrom(address, address.BitLen()) }
