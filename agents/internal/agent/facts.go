package agent

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/agent/trial"
	"downlink/agents/internal/agent/volume"
	"downlink/agents/internal/flow/controls"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/host"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/server/protocol"
)

// HostFacts gathers facts and capabilities; what cannot be read is left empty and told by the error.
func HostFacts(c config.Config, keeper *settings.Keeper, bootID string) (protocol.Host, error) {
	facts := host.Read()
	controls, unavailable, controlsErr := controlsHere()
	length, lengthErr := tcpinfo.Length()
	free, freeErr := host.FreeBytes(c.StateDir)
	roles := make([]protocol.Role, len(c.Roles))
	for i, role := range c.Roles {
		roles[i] = protocol.Role(role)
	}
	writable, refused := []string{}, keeper.Refused()
	for _, name := range keeper.Writable() {
		if c.Policy.AllowsSetting(name) {
			writable = append(writable, name)
		} else {
			refused[name] = "the policy of this host's owner (policy.settings) does not allow it"
		}
	}
	return protocol.Host{
		BootID: bootID, Hostname: facts.Hostname, Kernel: facts.Kernel, OS: facts.OS, Arch: facts.Arch, CPUs: facts.CPUs,
		Roles: roles, CongestionControls: controls, ControlsUnavailable: unavailable, ControlOptions: controlOptions(),
		Transports: trial.Transports(c),
		TransportOptions: map[protocol.TransportKind]map[string]protocol.ControlOption{
			protocol.TransportINTCP: trial.INTCPFacts(c.Policy.RelayBufferBytes),
		},
		Offers: trial.Offers(), HoldsBudget: true, DataMTU: dataMTU(c), Settings: keeper.Snapshot(""), SettingsWritable: writable,
		SettingsRefused: refused, PerAckRefused: perAckRefused(),
		TCPInfoBytes: length, DataHost: c.DataHost, SpoolFreeBytes: free, Policy: policyFacts(c, time.Now()),
	}, errors.Join(controlsErr, lengthErr, freeErr)
}

// policyFacts are what the host's owner allows. A month whose count cannot be read counts as used up, and the agent's polls tell it.
func policyFacts(c config.Config, now time.Time) *protocol.PolicyFacts {
	_, offsetS := now.Local().Zone()
	facts := &protocol.PolicyFacts{
		MaxSeconds: c.Policy.MaxSeconds, MaxBytes: c.Policy.MaxBytes, MaxRateBps: c.Policy.MaxRateBps, UTCOffsetS: offsetS,
		ShortenAddresses: c.Policy.ShortenAddresses,
	}
	for _, hours := range c.Policy.QuietHours {
		facts.QuietHours = append(facts.QuietHours, hours.String())
	}
	if c.Policy.MonthlyBytes == 0 {
		return facts
	}
	month, _ := volume.Open(c.StateDir, c.Policy.MonthlyBytes, c.Policy.ResetDay).Month(now.Local())
	facts.Month = &protocol.MonthFacts{LimitBytes: month.Limit, UsedBytes: month.Used, ResetsOn: month.ResetsOn}
	return facts
}

// linkMTU is that of an emulated link's devices.
const linkMTU = 1500

// dataMTU is that of the device with the data host; the relays of an emulated link have no device of this host's.
func dataMTU(c config.Config) int {
	if c.RelayControl != "" {
		return linkMTU
	}
	return host.MTU(c.DataHost)
}

// capabilities are tried once: the kernel verifies every program again, and its answer lasts as long as the kernel.
var capabilities = sync.OnceValue(controls.Capabilities)

// controlsHere are the kernel's controls with those of the agent that can be loaded beside them, and why others cannot.
func controlsHere() (names []string, unavailable map[string]string, err error) {
	known, err := socket.AvailableControls()
	unavailable = map[string]string{}
	for _, name := range known {
		// The kernel names controls that this process may not use (tcp_allowed_congestion_control).
		if refusal := socket.CheckControl(name); refusal != nil {
			unavailable[name] = firstWords(refusal.Error())
		} else {
			names = append(names, name)
		}
	}
	for _, own := range capabilities() {
		if own.Able {
			names = append(names, own.Name)
		} else {
			unavailable[own.Name] = firstWords(own.Reason)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), unavailable, err
}

// perAckRefused is tried once: the kernel's answer lasts as long as the kernel.
var perAckRefused = sync.OnceValue(func() string {
	if err := controls.CanRecordAcks(); err != nil {
		return firstWords(err.Error())
	}
	return ""
})

func controlOptions() map[string]map[string]protocol.ControlOption {
	options := map[string]map[string]protocol.ControlOption{}
	for _, own := range controls.Catalog() {
		options[own.Name] = map[string]protocol.ControlOption{}
		for i := range own.Options {
			option := &own.Options[i]
			options[own.Name][option.Name] = protocol.ControlOption{Choices: option.ChoiceNames(), Min: option.Min, Max: option.Max}
		}
	}
	return options
}

// maxReasonBytes keeps the verifier's log, which can follow its verdict, out of the facts.
const maxReasonBytes = 500

// firstWords is a sentence that the server takes: short, in one line, without control characters.
func firstWords(reason string) string {
	reason, _, _ = strings.Cut(reason, "\n")
	reason = strings.ToValidUTF8(reason[:min(len(reason), maxReasonBytes)], "")
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, reason)
}
