package host

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Facts describe the running system.
type Facts struct {
	Hostname string
	Kernel   string
	OS       string
	Arch     string
	CPUs     int
}

// Read never fails: a fact that cannot be read is empty.
func Read() Facts {
	hostname, _ := os.Hostname()
	return Facts{Hostname: hostname, Kernel: kernel(), OS: osName(), Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
}

func kernel() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:])
}

// osName reads the name that distributions give themselves (os-release(5)).
func osName() string {
	content, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return runtime.GOOS
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), "PRETTY_NAME="); found {
			return strings.Trim(value, `"`)
		}
	}
	return runtime.GOOS
}

// FreeBytes returns what an unprivileged process may still write to the file system of a folder.
func FreeBytes(dir string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, err
	}
	return int64(stat.Bavail) * stat.Bsize, nil // no disk has 2^63 bytes
}

// FilePlace tells a file from every copy of it on this host.
func FilePlace(path string) (string, error) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return "", fmt.Errorf("look at %s: %w", path, err)
	}
	return fmt.Sprintf("%x:%x", stat.Dev, stat.Ino), nil
}

// Path describes the way that data takes.
type Path struct {
	Interface string
	Qdisc     string
	Offloads  map[string]bool
	// Route is how packets to the peer leave, as the kernel decides at this moment: "203.0.113.7 via 198.51.100.254 dev eth0 src
	// 198.51.100.1".
	Route string
	// MTUBytes is that of the route; where it has none of its own, of the interface.
	MTUBytes int
}

// ReadPath describes the interface that has a local address, or that leads to a peer when the address is not of this
// host. What cannot be read is left empty.
func ReadPath(local, peer string) Path {
	link := linkWith(net.ParseIP(local))
	if link == nil {
		link = linkTowards(net.ParseIP(peer))
	}
	if link == nil {
		return Path{Offloads: map[string]bool{}}
	}
	name := link.Attrs().Name
	path := Path{Interface: name, Qdisc: rootQdisc(link), Offloads: offloads(name), MTUBytes: link.Attrs().MTU}
	if peer := net.ParseIP(peer); peer != nil {
		path.Route, path.MTUBytes = routeTo(peer, path.MTUBytes)
	}
	return path
}

// routeTo describes the route to an address; a route without an MTU has its interface's, or the one given where that is not known.
func routeTo(peer net.IP, mtuBytes int) (text string, mtu int) {
	routes, err := netlink.RouteGet(peer)
	if err != nil || len(routes) == 0 {
		return "", mtuBytes
	}
	route, words := routes[0], []string{peer.String()}
	if route.Gw != nil {
		words = append(words, "via", route.Gw.String())
	}
	if device := linkByIndex(route.LinkIndex); device != nil {
		words, mtuBytes = append(words, "dev", device.Attrs().Name), device.Attrs().MTU
	}
	if route.Src != nil {
		words = append(words, "src", route.Src.String())
	}
	if route.MTU > 0 {
		mtuBytes = route.MTU
	}
	return strings.Join(words, " "), mtuBytes
}

// HasAddress tells whether an address is one of this host's own.
func HasAddress(address string) bool { return linkWith(net.ParseIP(address)) != nil }

func linkWith(ip net.IP) netlink.Link {
	if ip == nil {
		return nil
	}
	addresses, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return nil
	}
	for _, address := range addresses {
		if address.IP.Equal(ip) {
			return linkByIndex(address.LinkIndex)
		}
	}
	return nil
}

func linkTowards(ip net.IP) netlink.Link {
	if ip == nil {
		return nil
	}
	routes, err := netlink.RouteGet(ip)
	if err != nil || len(routes) == 0 {
		return nil
	}
	return linkByIndex(routes[0].LinkIndex)
}

func linkByIndex(index int) netlink.Link {
	link, err := netlink.LinkByIndex(index)
	if err != nil {
		return nil
	}
	return link
}

func rootQdisc(link netlink.Link) string {
	qdiscs, err := netlink.QdiscList(link)
	if err != nil {
		return ""
	}
	for _, qdisc := range qdiscs {
		if qdisc.Attrs().Parent == netlink.HANDLE_ROOT {
			return qdisc.Type()
		}
	}
	return "noqueue"
}

// AddressTowards returns this host's address on the way to a server (a URL's host, with or without a port).
func AddressTowards(server string) (string, error) {
	host, _, err := net.SplitHostPort(server)
	if err != nil {
		host = server
	}
	// Connecting a UDP socket sends nothing: it only asks the routes.
	conn, err := net.Dial("udp", net.JoinHostPort(host, "9"))
	if err != nil {
		return "", fmt.Errorf("find this host's own address: %w", err)
	}
	defer func() { _ = conn.Close() }()
	address, _, err := net.SplitHostPort(conn.LocalAddr().String())
	return address, err
}

// MTU is that of the interface with an address of this host; 0 where it is not one.
func MTU(address string) int {
	link := linkWith(net.ParseIP(address))
	if link == nil {
		return 0
	}
	return link.Attrs().MTU
}
