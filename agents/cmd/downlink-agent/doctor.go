package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/agent/pause"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/host"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
	"downlink/agents/internal/server/uplink"
)

type doctorCmd struct{ place }

// finding is one checked sentence.
type finding struct {
	isGood   bool
	sentence string
}

func good(format string, values ...any) finding {
	return finding{isGood: true, sentence: fmt.Sprintf(format, values...)}
}

func bad(format string, values ...any) finding {
	return finding{sentence: fmt.Sprintf(format, values...)}
}

// Run prints a sentence per check and fails when one is bad.
func (d doctorCmd) Run(ctx context.Context) error {
	c, err := d.loadAlone()
	if err != nil {
		return err
	}
	policy := checkPolicy(&c, config.PolicyFile)
	keeper, bootID, err := agent.OpenKeeper(c, settings.LinuxHost{})
	if err != nil {
		return err
	}
	facts, err := agent.HostFacts(c, keeper, bootID)
	if err != nil {
		return err
	}
	findings := []finding{
		policy, checkKernel(facts), checkRights(), checkRoles(c), checkControls(facts), checkRecording(), checkSettings(facts, c),
		checkHystart(facts, c), checkBuffers(facts, c),
		checkJournal(c.StateDir, keeper), checkDataPort(c), checkPath(c), checkWritable(c.StateDir), checkDisk(facts), checkSpool(c),
		checkRest(c, time.Now()), checkMonth(c, time.Now()), checkSync(),
	}
	if slices.Contains(c.Roles, "relay") {
		findings = append(findings, checkRelay(c))
	}
	findings = append(findings, checkObserved(ctx, c.Observe)...)
	findings = append(findings, checkServer(ctx, c)...)
	return printFindings(findings)
}

func printFindings(findings []finding) error {
	failed := 0
	for _, f := range findings {
		mark := "ok  "
		if !f.isGood {
			mark = "BAD "
			failed++
		}
		fmt.Println(mark, f.sentence)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d checks are bad", failed, len(findings))
	}
	return nil
}

func checkKernel(facts protocol.Host) finding {
	// 232 bytes end with the peer's window, which the receive-window panels need.
	if facts.TCPInfoBytes < 232 {
		return bad("Kernel %s gives %d bytes of TCP_INFO; below 232 (Linux 5.4) the peer's window is missing from traces.",
			facts.Kernel, facts.TCPInfoBytes)
	}
	return good("Kernel %s gives %d bytes of TCP_INFO.", facts.Kernel, facts.TCPInfoBytes)
}

func checkRoles(c config.Config) finding {
	roles := strings.Join(c.Roles, " and ")
	if (slices.Contains(c.Roles, "sender") || slices.Contains(c.Roles, "relay")) && !host.HasAddress(c.DataHost) {
		return good("Role: %s. %s is not an address of this host, so the data port will listen on all addresses.", roles, c.DataHost)
	}
	return good("Role: %s, data host %q.", roles, c.DataHost)
}

// enoughSocketBytes holds what comes at 1 Gb/s in ten milliseconds, with the kernel's overhead.
const enoughSocketBytes = 4 << 20

// checkRelay tries what a relay of INTCP needs. A port of its own is tried where the kernel picks one for each run.
func checkRelay(c config.Config) finding {
	address := ""
	if host.HasAddress(c.DataHost) {
		address = c.DataHost
	}
	address = net.JoinHostPort(address, strconv.Itoa(c.DataPort))
	conn, err := net.ListenPacket("udp", address)
	if err != nil {
		return bad("This host cannot relay INTCP at %s: %v; a run may be under way, or another program has the UDP port.", address, err)
	}
	defer func() { _ = conn.Close() }()
	udp, isUDP := conn.(*net.UDPConn)
	if !isUDP {
		return bad("This host cannot relay INTCP: %s is not UDP.", address)
	}
	batch, err := socket.NewBatch(udp)
	if err != nil {
		return bad("This host cannot relay INTCP: %v.", err)
	}
	bytes, err := batch.ReceiveBytes()
	if err != nil {
		return bad("This host cannot relay INTCP: %v.", err)
	}
	return sayRelay(address, c.Policy.RelayFlows, batch.JoinsDatagrams(), bytes)
}

// sayRelay says how well a host that can relay does it.
func sayRelay(address string, flows int, joinsDatagrams bool, socketBytes int) finding {
	sentence := fmt.Sprintf("This host can relay, over TCP and UDP at %s, %d flows at a time.", address, flows)
	if !joinsDatagrams {
		sentence += " Its kernel does not join datagrams (UDP_GRO, Linux 5.0), so fast flows take much of a processor."
	}
	if socketBytes < enoughSocketBytes {
		sentence += fmt.Sprintf(" Its sockets hold %d kB; set net.core.rmem_max and wmem_max to 8388608 for flows above 100 Mb/s.",
			socketBytes>>10)
	}
	return good("%s", sentence)
}

func checkControls(facts protocol.Host) finding {
	if !slices.Contains(facts.CongestionControls, "cubic") {
		return bad("Congestion controls: %s; cubic is missing: load it with `modprobe tcp_cubic`.", strings.Join(facts.CongestionControls, ", "))
	}
	sentences := []string{"Congestion controls: " + strings.Join(facts.CongestionControls, ", ") + "."}
	for _, name := range slices.Sorted(maps.Keys(facts.ControlsUnavailable)) {
		sentences = append(sentences, fmt.Sprintf("Not here: %s (%s).", name, facts.ControlsUnavailable[name]))
	}
	return good("%s", strings.Join(sentences, " "))
}

func checkSettings(facts protocol.Host, c config.Config) finding {
	const always = "net.ipv4.tcp_no_metrics_save"
	switch {
	case !c.Policy.AllowsSetting(always):
		return bad("The policy does not allow %s, which is part of every run; add it to policy.settings.", always)
	case !slices.Contains(facts.SettingsWritable, always):
		return bad("%s cannot be changed by this user, and it is part of every run; run the agent as root.", always)
	}
	return good("%d of %d settings can be changed here.", len(facts.SettingsWritable), len(settings.Names()))
}

func checkJournal(stateDir string, keeper interface{ Pending() bool }) finding {
	if keeper.Pending() {
		claim, err := agent.Claim(stateDir)
		if errors.Is(err, agent.ErrRuns) {
			return good("A run is under way; its agent puts the settings back at its end.")
		}
		if err == nil {
			_ = claim.Close()
		}
		return bad("A run has left settings changed; run `downlink-agent restore`, or start the agent.")
	}
	return good("No run has left settings changed.")
}

func checkRest(c config.Config, now time.Time) finding {
	if p := pause.Read(c.StateDir, now); p != nil {
		return bad("This agent is %s.", p.Sentence())
	}
	if hours := c.Policy.QuietHours; len(hours) > 0 {
		return good("No run is taken in the quiet hours %v, by this host's clock (now %s).", hours, now.Local().Format("Mon 15:04 MST"))
	}
	return good("The owner has not paused this agent, and it has no quiet hours.")
}

func checkDisk(facts protocol.Host) finding {
	const enoughBytes = 1e9
	if facts.SpoolFreeBytes < enoughBytes {
		return bad("%d MB are free for traces; a GB or more is advised: free some, or move state_dir to a larger disk.", facts.SpoolFreeBytes/1e6)
	}
	return good("%d MB are free for traces.", facts.SpoolFreeBytes/1e6)
}

func checkSpool(c config.Config) finding {
	s, err := spool.Look(filepath.Join(c.StateDir, "spool"))
	if err != nil {
		return bad("The spool cannot be read: %v. Run this as the user that the agent runs as.", err)
	}
	used := int64(0)
	for _, held := range append(s.Held(), s.Aside()...) {
		used += held.Bytes
	}
	if c.SpoolMaxBytes > 0 && used > c.SpoolMaxBytes/10*9 {
		return bad("Samples that wait take %d of %d MB, and runs are refused when there is no more room: "+
			"let the server take them, drop some (`downlink-agent spool`), or raise spool_max_bytes.", used/1e6, c.SpoolMaxBytes/1e6)
	}
	if aside := s.Aside(); len(aside) > 0 {
		return good("Samples of %d runs wait, and of %d some are set aside (`downlink-agent spool` lists them).", len(s.Held()), len(aside))
	}
	return good("Samples of %d runs wait for the server to ask for them.", len(s.Held()))
}

// checkServer asks for nothing that could disturb an agent that runs.
func checkServer(ctx context.Context, c config.Config) []finding {
	if _, err := config.LoadIdentity(c.StateDir); err != nil {
		return []finding{bad("%v.", err)}
	}
	client, err := uplink.NewClient(c.Server, "", c.CAFile, c.Proxy)
	if err != nil {
		return []finding{bad("%v.", err)}
	}
	date, speaks, err := client.Greet(ctx)
	if err != nil {
		return []finding{bad("The server at %s does not answer: %v. Check the address, the way there (name, route, firewall, "+
			"proxy) and that the server runs.", c.Server, err)}
	}
	answers := good("The server at %s answers.", c.Server)
	if isReadableOnTheWay(c.Server) {
		answers = good("The server at %s answers. Note that it %s.", c.Server, plainWarning)
	}
	return []finding{answers, checkVersion(speaks), checkClock(time.Since(date))}
}

// dateAccuracy is how exact a date is that came without fractions of a second, and took a moment on its way.
const dateAccuracy = 3 * time.Second

func checkClock(ahead time.Duration) finding {
	if ahead.Abs() < dateAccuracy {
		return good("This host's clock and the server's agree, as far as whole seconds tell.")
	}
	sentence := fmt.Sprintf("This host's clock is %.0f s ahead of the server's", ahead.Seconds())
	if ahead < 0 {
		sentence = fmt.Sprintf("This host's clock is %.0f s behind the server's", -ahead.Seconds())
	}
	if ahead.Abs() > time.Minute {
		return bad("%s; runs begin in time all the same, but set the clock so that logs can be compared.", sentence)
	}
	return good("%s.", sentence)
}
