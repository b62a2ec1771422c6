package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/host"
	"downlink/agents/internal/server/protocol"
)

// checkPolicy heeds the policy of the host's owner and says what is wrong with it.
func checkPolicy(c *config.Config, path string) finding {
	if err := c.Heed(path); err != nil {
		return bad("%v. The agent does not start with it: correct the file.", err)
	}
	return good("The owner's policy %s can be read, or is not there and says nothing.", path)
}

func checkRights() finding {
	lacking, err := host.LackingRights()
	switch {
	case err != nil:
		return bad("%v.", err)
	case len(lacking) > 0:
		return bad("This process lacks %s: run the agent as root, or with these capabilities (the unit that comes with it has them).",
			strings.Join(lacking, ", "))
	}
	return good("This process has the capabilities that runs need.")
}

// checkRecording tries the program that records every ACK: it needs the kernel's type information and BPF.
func checkRecording() finding {
	probe, err := acks.OpenProbe()
	if err != nil {
		return bad("Every ACK cannot be recorded here, and campaigns that ask for it are polled instead: %v.", err)
	}
	_ = probe.Close()
	return good("Every ACK can be recorded here (BPF, with the kernel's type information).")
}

const hystart = "tcp_cubic.hystart"

func checkHystart(facts protocol.Host, c config.Config) finding {
	if !slices.Contains(c.Roles, string(protocol.RoleSender)) {
		return good("HyStart is a sender's, and this host does not send.")
	}
	switch {
	case facts.Settings[hystart] == "":
		return bad("The parameters of tcp_cubic are not there, so HyStart cannot be switched: load the module with `modprobe tcp_cubic`.")
	case !slices.Contains(facts.SettingsWritable, hystart):
		return bad("HyStart cannot be switched: %s is not writable here, or not allowed by the policy. "+
			"Run the agent as root of the host itself (not of a container), and allow it in policy.settings.", hystart)
	}
	return good("HyStart can be switched (it is %s now).", facts.Settings[hystart])
}

func checkBuffers(facts protocol.Host, c config.Config) finding {
	var closed []string
	for role, name := range map[protocol.Role]string{protocol.RoleSender: "net.ipv4.tcp_wmem", protocol.RoleReceiver: "net.ipv4.tcp_rmem"} {
		if slices.Contains(c.Roles, string(role)) && !slices.Contains(facts.SettingsWritable, name) {
			closed = append(closed, name)
		}
	}
	if len(closed) > 0 {
		slices.Sort(closed)
		return bad("Buffers cannot be set: %s is not writable here, or not allowed by the policy. "+
			"Run the agent as root, and allow it in policy.settings.", strings.Join(closed, ", "))
	}
	return good("Buffers can be set.")
}

// checkDataPort opens what a run would open, for a moment.
func checkDataPort(c config.Config) finding {
	relays := slices.Contains(c.Roles, string(protocol.RoleRelay)) && c.RelayControl == "" // an emulated link's have no port here
	if !slices.Contains(c.Roles, string(protocol.RoleSender)) && !relays {
		return good("No data port is needed: this host does not send, and receivers dial out.")
	}
	address := ""
	if host.HasAddress(c.DataHost) {
		address = c.DataHost
	}
	address = net.JoinHostPort(address, strconv.Itoa(c.DataPort))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return bad("The data port cannot be opened at %s: %v. A run may be under way; otherwise end the program that has it (`ss -ltnp`), "+
			"or choose another data_port.", address, err)
	}
	_ = listener.Close()
	if c.DataPort == 0 {
		return good("A data port can be opened; the kernel picks a number for each run. Behind a firewall set data_port and let it through.")
	}
	return good("The data port %d can be opened. Whether receivers reach it, a quick test tells.", c.DataPort)
}

// leastMTU is what IPv6 asks of every link, and no fewer bytes than any TCP campaign assumes.
const leastMTU = 1280

// checkPath looks at the interface that data takes.
func checkPath(c config.Config) finding {
	path := host.ReadPath(c.DataHost, "")
	if path.Interface == "" {
		return good("%s is not an address of this host (NAT, or a name), so its interface is found in a run.", c.DataHost)
	}
	isUp, err := host.IsUp(path.Interface)
	switch {
	case err != nil:
		return bad("The interface %s of the data path cannot be read: %v.", path.Interface, err)
	case !isUp:
		return bad("The interface %s of the data path is down: `ip link set %s up`.", path.Interface, path.Interface)
	case path.MTUBytes < leastMTU:
		return bad("The interface %s of the data path has an MTU of %d bytes; with less than %d packets are cut or lost: "+
			"set it with `ip link set %s mtu 1500`, or as the link allows.", path.Interface, path.MTUBytes, leastMTU, path.Interface)
	}
	about := fmt.Sprintf("MTU %d, qdisc %s", path.MTUBytes, path.Qdisc)
	if address := net.ParseIP(c.DataHost); address.IsLoopback() {
		return good("Data stays on this host (%s, %s): runs are with agents of this host alone. "+
			"For others, set data_host to an address that they reach.", path.Interface, about)
	}
	if other := host.DefaultInterface(); other != "" && other != path.Interface && dials(c) {
		return bad("data_host is an address of %s (%s), and this host's routes to far places leave by %s: "+
			"what it receives comes over %s, unless a route to its senders says otherwise. "+
			"Add one (`ip route add SENDER/32 via GATEWAY dev %s`), or name the address of %s. Each run records the way that its flows took.",
			path.Interface, about, other, other, path.Interface, other)
	}
	return good("Data goes over %s: %s.", path.Interface, about)
}

// dials tells whether this host dials senders: its routes choose the way then, and not its data_host.
func dials(c config.Config) bool { return slices.Contains(c.Roles, string(protocol.RoleReceiver)) }

// checkSync asks whether the host's clock is kept by a time service; runs begin in time without, by the server's clock.
func checkSync() finding {
	isSynchronised, errorUs, err := host.IsClockSynchronised()
	switch {
	case err != nil:
		return good("Whether a time service keeps this host's clock cannot be told: %v.", err)
	case !isSynchronised:
		return good("No time service keeps this host's clock. Runs begin in time all the same; " +
			"with one (chrony, systemd-timesyncd) logs compare and clocks drift less.")
	}
	return good("A time service keeps this host's clock, within %.1f ms as it says.", float64(errorUs)/1000)
}

func checkWritable(stateDir string) finding {
	for _, dir := range []string{stateDir, filepath.Join(stateDir, "spool")} {
		if err := host.CanWrite(dir); err != nil && (dir == stateDir || !errors.Is(err, fs.ErrNotExist)) { // the agent makes its spool
			return bad("Nothing can be written into %s: %v. Make it with `install -d -m 700 %s`, and run the agent as its owner.", dir, err, dir)
		}
	}
	return good("Samples and events can be written.")
}

// checkVersion compares what the server says of the protocol that it speaks.
func checkVersion(speaks int) finding {
	switch {
	case speaks == 0:
		return good("The server does not say which version of the agent protocol it speaks; the agent's first poll tells.")
	case speaks != protocol.Version:
		return bad("The server speaks version %d of the agent protocol and this agent version %d: %s.", speaks, protocol.Version, upgrade(speaks))
	}
	return good("Server and agent speak version %d of the agent protocol.", speaks)
}

func upgrade(speaks int) string {
	if speaks > protocol.Version {
		return "install the downlink-agent of the server's release"
	}
	return fmt.Sprintf("upgrade the server, or install a downlink-agent that speaks version %d", speaks)
}
