package netlab

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/testing/hosttest"
)

// holdEnv makes this test binary hold a link of that name, as `link up` does, instead of running tests.
const (
	holdEnv    = "NETLAB_TEST_HOLD"
	profileEnv = "NETLAB_TEST_PROFILE"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(holdEnv); name != "" {
		if err := hold(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if order := os.Getenv(relayEnv); order != "" {
		if err := relayUntilAsked(order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func hold(name string) error {
	gone, err := ParentGone()
	if err != nil {
		return err
	}
	profile, err := emulate.LoadProfile(os.Getenv(profileEnv))
	if err != nil {
		return err
	}
	lab, err := Up(Options{Name: name, Profile: profile, Senders: 1})
	if err != nil {
		return err
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, unix.SIGTERM)
	fmt.Println("up")
	select {
	case <-gone:
	case <-asked:
	}
	return lab.Close()
}

// testName is a link's name that no other test process has.
func testName(suffix string) string { return fmt.Sprintf("t%d-%s", os.Getpid(), suffix) }

// traces lists what of a link can be seen from outside.
func traces(t *testing.T, name string) (found []string) {
	t.Helper()
	links, err := List()
	require.NoError(t, err)
	for _, link := range links {
		if link.Name == name {
			found = append(append(found, link.namespaces...), link.devices...)
		}
	}
	return found
}

func startLab(t *testing.T, options Options) *Lab {
	t.Helper()
	hosttest.NeedRoot(t)
	lab, err := Up(options)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, lab.Close())
		require.Empty(t, traces(t, options.Name), "everything is gone")
	})
	return lab
}

func terrestrial(t *testing.T) emulate.Profile {
	t.Helper()
	profile, err := emulate.LoadProfile("terrestrial")
	require.NoError(t, err)
	return profile
}

// listenOn and dialFrom open TCP sockets on hosts of a link.
func listenOn(t *testing.T, namespace, address string) (listener net.Listener) {
	t.Helper()
	onHost(t, namespace, func() (err error) {
		listener, err = net.Listen("tcp", address)
		return err
	})
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

func dialFrom(t *testing.T, namespace, address string) (conn net.Conn) {
	t.Helper()
	onHost(t, namespace, func() (err error) {
		conn, err = net.DialTimeout("tcp", address, 5*time.Second)
		return err
	})
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func onHost(t *testing.T, namespace string, call func() error) {
	t.Helper()
	ns, err := netns.GetFromName(namespace)
	require.NoError(t, err)
	defer func() { _ = ns.Close() }()
	require.NoError(t, inside(ns, call))
}

// serveOnce answers one connection to a host, and says where.
func serveOnce(t *testing.T, namespace, host string, answer func(net.Conn)) (address string) {
	t.Helper()
	listener := listenOn(t, namespace, net.JoinHostPort(host, "0"))
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			answer(conn)
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}

// download fetches content over one TCP connection from a sender and returns how long it took.
func download(t *testing.T, hosts map[string]HostInfo, sender, senderAddress string, content []byte) time.Duration {
	t.Helper()
	address := serveOnce(t, hosts[sender].Namespace, senderAddress, func(conn net.Conn) { _, _ = conn.Write(content) })
	began := time.Now()
	conn := dialFrom(t, hosts[Receiver].Namespace, address)
	require.NoError(t, conn.SetReadDeadline(began.Add(20*time.Second)))
	got, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Equal(t, sha256.Sum256(content), sha256.Sum256(got))
	return time.Since(began)
}

func TestTransferOverTheLinkInBothFamilies(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	lab := startLab(t, Options{Name: testName("tcp"), Profile: terrestrial(t), Senders: 2})
	hosts := lab.Hosts()
	content := bytes.Repeat([]byte("downlink"), 250_000)
	for sender, address := range map[string]string{
		"sender-1": hosts["sender-1"].DataHost, "sender-2": hosts["sender-2"].DataHost6,
	} {
		took := download(t, hosts, sender, address, content)
		require.Greater(t, took, 320*time.Millisecond, "16 Mbit take that long at 50 Mb/s")
		require.Less(t, took, 5*time.Second)
	}
	down, up := lab.Counts()
	require.Greater(t, down.DeliveredBytes, uint64(2*len(content)), "the data took the link")
	require.Greater(t, up.Delivered, uint64(100), "the acknowledgements too")
}

func TestControlTrafficTakesTheOtherWay(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	backend := echoServer(t, "tcp", "127.0.0.1:0")
	lab := startLab(t, Options{Name: testName("ctl"), Profile: terrestrial(t), Senders: 1, Control: backend})
	for name, host := range lab.Hosts() {
		conn := dialFrom(t, host.Namespace, strings.TrimPrefix(lab.ControlURL(), "http://"))
		requireEcho(t, conn, name+strings.Repeat(".", 100_000))
	}
	down, up := lab.Counts()
	require.Less(t, down.DeliveredBytes+up.DeliveredBytes, uint64(10_000), "only IPv6's own words took the link under test")
}

func TestManyLinksAtOnce(t *testing.T) {
	first := startLab(t, Options{Name: testName("one"), Profile: terrestrial(t), Senders: 1})
	second := startLab(t, Options{Name: testName("two"), Profile: terrestrial(t), Senders: 1})
	require.NotEqual(t, first.Hosts()["receiver"].DataHost, second.Hosts()["receiver"].DataHost)
	for _, lab := range []*Lab{first, second} {
		hosts := lab.Hosts()
		download(t, hosts, "sender-1", hosts["sender-1"].DataHost, []byte("hello"))
	}
}

func TestNameIsTakenOnce(t *testing.T) {
	lab := startLab(t, Options{Name: testName("dup"), Profile: terrestrial(t), Senders: 1})
	hosts := lab.Hosts()
	var resident *exec.Cmd
	onHost(t, hosts[Receiver].Namespace, func() error {
		resident = exec.Command("sleep", "60")
		return resident.Start()
	})
	defer func() { _ = resident.Process.Kill(); _ = resident.Wait() }()
	_, err := Up(lab.options)
	require.ErrorContains(t, err, "exists already")
	require.True(t, exists(resident.Process.Pid), "who lives on the first one is left alone")
	download(t, hosts, "sender-1", hosts["sender-1"].DataHost, []byte("hello"))
}

func TestSysctlsOfAHostAreItsOwn(t *testing.T) {
	lab := startLab(t, Options{Name: testName("ctls"), Profile: terrestrial(t), Senders: 1})
	const path = "/proc/sys/net/ipv4/tcp_rmem"
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	onHost(t, lab.Hosts()[Receiver].Namespace, func() error { return os.WriteFile(path, []byte("4096 5000 6000"), 0) })
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// startHolder starts a process that holds a link, and returns once it is up.
func startHolder(t testing.TB, name, profile string, command *exec.Cmd) {
	t.Helper()
	hosttest.NeedRoot(t)
	command.Env = append(os.Environ(), holdEnv+"="+name, profileEnv+"="+profile)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if link, err := Find(name); err == nil {
			_ = Down(link)
		}
	})
	line := make([]byte, 3)
	_, err = io.ReadFull(output, line)
	require.NoError(t, err)
	require.Equal(t, "up\n", string(line))
}

func TestLeftoversOfAKilledHolderAreRemoved(t *testing.T) {
	name := testName("kill")
	holder := exec.Command(os.Args[0])
	startHolder(t, name, "terrestrial", holder)
	link, err := Find(name)
	require.NoError(t, err)
	require.True(t, link.IsRunning)
	require.Equal(t, holder.Process.Pid, link.Pid)

	lodger := exec.Command("sleep", "60")
	onHost(t, link.Hosts["sender-1"].Namespace, lodger.Start)
	require.NoError(t, holder.Process.Kill())
	_ = holder.Wait()
	link, err = Find(name)
	require.NoError(t, err)
	require.False(t, link.IsRunning)

	require.NoError(t, Down(link))
	require.Empty(t, traces(t, name))
	require.ErrorContains(t, lodger.Wait(), "terminated", "what ran on its hosts has ended")
}

func TestOnlyALinkWhoseMakerIsGoneIsALeftover(t *testing.T) {
	name := testName("again")
	removed, err := RemoveLeftover(name)
	require.NoError(t, err)
	require.False(t, removed, "there is none")

	holder := exec.Command(os.Args[0])
	startHolder(t, name, "terrestrial", holder)
	removed, err = RemoveLeftover(name)
	require.NoError(t, err)
	require.False(t, removed, "its maker lives")
	require.NotEmpty(t, traces(t, name))

	require.NoError(t, holder.Process.Kill())
	_ = holder.Wait()
	removed, err = RemoveLeftover(name)
	require.NoError(t, err)
	require.True(t, removed)
	require.Empty(t, traces(t, name))
}

func TestDownAsksTheHolder(t *testing.T) {
	name := testName("ask")
	holder := exec.Command(os.Args[0])
	startHolder(t, name, "terrestrial", holder)
	link, err := Find(name)
	require.NoError(t, err)
	require.NoError(t, Down(link))
	require.Empty(t, traces(t, name))
	require.NoError(t, holder.Wait(), "it ended by itself")
}

func TestLinkGoesWithItsParent(t *testing.T) {
	name := testName("orphan")
	parent := exec.Command("sh", "-c", `"$0" & wait`, os.Args[0])
	startHolder(t, name, "terrestrial", parent)
	require.NoError(t, parent.Process.Kill())
	require.True(t, waitFor(5*time.Second, func() bool { return len(traces(t, name)) == 0 }))
}

// TestWorksInAUserNamespace repeats a transfer where the process owns nothing but its own namespaces.
func TestWorksInAUserNamespace(t *testing.T) {
	hosttest.NeedRoot(t)
	socket := filepath.Join(t.TempDir(), "control")
	echoServer(t, "unix", socket)
	script := `mount -t tmpfs tmpfs /run && mkdir /run/netns &&
		exec "$0" -test.run '^(TestTransferOverTheLinkInBothFamilies|TestBytesPassAProxyUnchangedInBothFamilies)$' -test.v`
	output, err := exec.Command("unshare", "--user", "--map-root-user", "--net", "--mount", "sh", "-c", script, os.Args[0]).CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "--- PASS: TestTransferOverTheLinkInBothFamilies")
	require.Contains(t, string(output), "--- PASS: TestBytesPassAProxyUnchangedInBothFamilies")
}

func TestFailureLeavesNothing(t *testing.T) {
	hosttest.NeedRoot(t)
	name := testName("bad")
	_, err := Up(Options{Name: name, Profile: terrestrial(t), Senders: 1, Control: "nowhere"})
	require.ErrorContains(t, err, "neither host:port nor unix:/path")
	require.Empty(t, traces(t, name))
}

func TestDevicesHaveTheEthernetMtuAndRoom(t *testing.T) {
	lab := startLab(t, Options{Name: testName("mtu"), Profile: terrestrial(t), Senders: 1})
	for name, host := range lab.Hosts() {
		onHost(t, host.Namespace, func() error {
			device, err := netlink.LinkByName("data")
			require.NoError(t, err)
			require.Equal(t, mtuBytes, device.Attrs().MTU, name)
			if name == Receiver {
				require.Equal(t, tunQueueLength, device.Attrs().TxQLen)
			}
			return nil
		})
	}
}

func TestDeviceRemovalIsAnError(t *testing.T) {
	lab := startLab(t, Options{Name: testName("cut"), Profile: terrestrial(t), Senders: 1})
	onHost(t, lab.Hosts()[Receiver].Namespace, func() error {
		device, err := netlink.LinkByName("data")
		require.NoError(t, err)
		return netlink.LinkDel(device)
	})
	select {
	case <-lab.Ended():
	case <-time.After(5 * time.Second):
		t.Fatal("the pump did not notice")
	}
	require.ErrorIs(t, lab.Close(), unix.EBADFD)
}
