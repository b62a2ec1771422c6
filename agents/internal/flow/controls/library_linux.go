package controls

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"

	"downlink/agents/internal/bpf"
	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/flow/socket"
)

// Library offers the kernel's controls and, loaded when a run first asks, the agent's own.
// Use as the Controls of a trial; Release at the end of every run.
type Library struct {
	mu     sync.Mutex
	loaded map[string]shelved
	probe  *acks.Probe
}

type shelved struct {
	control *Loaded
	options map[string]uint32
}

// Check loads a control of ours, so that what can fail fails before any data moves; a control of the kernel is tried.
func (l *Library) Check(name string, options map[string]any) error {
	known, err := Find(name)
	if err != nil {
		return Kernel{}.Check(name, options)
	}
	if err := l.hold(&known, options); err != nil {
		return fmt.Errorf("%w: %w", socket.ErrUnavailable, err)
	}
	return nil
}

func (l *Library) hold(known *Control, options map[string]any) error {
	constants, err := known.constants(options)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if held, ok := l.loaded[known.Name]; ok {
		if !maps.Equal(held.options, constants) {
			return fmt.Errorf("%w: %s: flows of one host cannot give it different options", ErrBadOption, known.Name)
		}
		return nil
	}
	control, err := Load(known.Name, options)
	if errors.Is(err, bpf.ErrNoPrivilege) && len(options) == 0 && socket.CheckControl(known.Name) == nil {
		return nil // another program holds it, and any may select it
	}
	if err != nil {
		return err
	}
	if l.loaded == nil {
		l.loaded = map[string]shelved{}
	}
	l.loaded[known.Name] = shelved{control, constants}
	return nil
}

// Set puts a connection under a control and returns what the kernel then uses.
func (l *Library) Set(conn *net.TCPConn, name string, options map[string]any) (string, error) {
	if err := l.Check(name, options); err != nil {
		return "", err
	}
	return socket.SetControl(conn, name)
}

// Actual returns the congestion control that a connection uses.
func (l *Library) Actual(conn *net.TCPConn) (string, error) { return socket.ActualControl(conn) }

// Acks is where the records of a flow under a control come from: the control itself if it is ours, else the probe.
// Errors wrap bpf.ErrNotSupported or bpf.ErrNoPrivilege: poll TCP_INFO then.
func (l *Library) Acks(name string) (acks.Source, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held, ok := l.loaded[name]; ok {
		return held.control, nil
	}
	if l.probe == nil {
		probe, err := acks.OpenProbe()
		if err != nil {
			return nil, err
		}
		l.probe = probe
	}
	return l.probe, nil
}

// Release unloads everything. Connections that are still open keep their control.
func (l *Library) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(l.loaded)) {
		failed = append(failed, l.loaded[name].control.Close())
	}
	if l.probe != nil {
		failed = append(failed, l.probe.Close())
	}
	l.loaded, l.probe = nil, nil
	return errors.Join(failed...)
}

// Capability is a control of ours as a host's facts tell it.
type Capability struct {
	Name   string `json:"name"`
	Able   bool   `json:"able"`
	Reason string `json:"reason"` // why not; empty when able
}

// Capabilities tries every control of the catalog on this host. It takes about half a second.
func Capabilities() []Capability {
	found := make([]Capability, len(catalog))
	for i := range catalog {
		found[i] = Capability{Name: catalog[i].Name, Able: true}
		if err := catalog[i].Ability(); err != nil {
			found[i].Able, found[i].Reason = false, err.Error()
		}
	}
	return found
}

// CanRecordAcks says why this host has no per-ACK records for controls of the kernel, nil when it has.
func CanRecordAcks() error {
	probe, err := acks.OpenProbe()
	if err != nil {
		return err
	}
	return probe.Close()
}
