package hosttest

import (
	"net"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// NeedRoot leaves a test that makes namespaces, or loads programs into the kernel, to the long proof, which root runs.
func NeedRoot(t testing.TB) {
	t.Helper()
	Verify(t, Kernel, "needs root")
	if os.Geteuid() != 0 {
		t.Skip("needs root: run it with `sudo make verify-kernel`")
	}
}

// Namespace is a network namespace. One without a name vanishes with the test, even when that is killed.
type Namespace struct {
	handle netns.NsHandle
}

// NewNamespace makes a namespace with its loopback up.
func NewNamespace(t testing.TB) *Namespace {
	t.Helper()
	NeedRoot(t)
	ns := &Namespace{}
	onThread(t, func() {
		var err error
		ns.handle, err = netns.New()
		require.NoError(t, err)
		loopback, err := netlink.LinkByName("lo")
		require.NoError(t, err)
		require.NoError(t, netlink.LinkSetUp(loopback))
	})
	t.Cleanup(func() { _ = ns.handle.Close() })
	return ns
}

// Named is a namespace that somebody else has made, and removes.
func Named(t testing.TB, name string) *Namespace {
	t.Helper()
	handle, err := netns.GetFromName(name)
	require.NoError(t, err)
	t.Cleanup(func() { _ = handle.Close() })
	return &Namespace{handle}
}

// onThread calls a function on a thread of its own, which is then thrown away together with its namespace.
func onThread(t testing.TB, call func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		call()
	}()
	<-done
}

// Do calls a function inside the namespace. Sockets and files that it opens stay there; goroutines do not.
func (n *Namespace) Do(t testing.TB, call func()) {
	t.Helper()
	onThread(t, func() {
		require.NoError(t, netns.Set(n.handle))
		call()
	})
}

// Start starts a process inside the namespace.
func (n *Namespace) Start(t testing.TB, command *exec.Cmd) {
	t.Helper()
	n.Do(t, func() { require.NoError(t, command.Start()) })
}

// Join connects two namespaces by a veth pair named "data", with these addresses in CIDR form at either end.
func Join(t testing.TB, a, b *Namespace, aAddresses, bAddresses []string) {
	t.Helper()
	a.Do(t, func() {
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "data"}, PeerName: "data", PeerNamespace: netlink.NsFd(b.handle)}
		require.NoError(t, netlink.LinkAdd(pair))
		bringUp(t, "data", aAddresses)
	})
	b.Do(t, func() { bringUp(t, "data", bAddresses) })
}

// JoinAs connects two namespaces by a veth pair of these names, each with an address in CIDR form.
func JoinAs(t testing.TB, a *Namespace, aName, aAddress string, b *Namespace, bName, bAddress string) {
	t.Helper()
	a.Do(t, func() {
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: aName}, PeerName: bName, PeerNamespace: netlink.NsFd(b.handle)}
		require.NoError(t, netlink.LinkAdd(pair))
		bringUp(t, aName, []string{aAddress})
	})
	b.Do(t, func() { bringUp(t, bName, []string{bAddress}) })
}

func bringUp(t testing.TB, name string, addresses []string) {
	t.Helper()
	link, err := netlink.LinkByName(name)
	require.NoError(t, err)
	for _, text := range addresses {
		address, err := netlink.ParseAddr(text)
		require.NoError(t, err)
		if address.IP.To4() == nil {
			address.Flags = ifaNoDAD
		}
		require.NoError(t, netlink.AddrAdd(link, address))
	}
	require.NoError(t, netlink.LinkSetUp(link))
}

// ifaNoDAD is IFA_F_NODAD: duplicate address detection would keep an address unusable for a second.
const ifaNoDAD = 0x02

// SetLink takes an interface of the namespace up or down.
func (n *Namespace) SetLink(t testing.TB, name string, up bool) {
	t.Helper()
	n.Do(t, func() {
		link, err := netlink.LinkByName(name)
		require.NoError(t, err)
		if up {
			require.NoError(t, netlink.LinkSetUp(link))
		} else {
			require.NoError(t, netlink.LinkSetDown(link))
		}
	})
}

// Listen opens a TCP listener inside the namespace.
func (n *Namespace) Listen(t testing.TB, address string) (listener net.Listener) {
	t.Helper()
	n.Do(t, func() {
		var err error
		listener, err = net.Listen("tcp", address)
		require.NoError(t, err)
	})
	return listener
}
