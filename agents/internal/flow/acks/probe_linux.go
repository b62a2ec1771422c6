package acks

import (
	"errors"
	"fmt"

	"downlink/agents/internal/bpf"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

const probeName = "the per-ACK probe"

// Probe records acknowledgements of sockets under any control.
type Probe struct {
	objects *ebpf.Collection
	links   []link.Link
}

// OpenProbe attaches the probe for as long as this process holds it.
// Errors wrap bpf.ErrNotSupported or bpf.ErrNoPrivilege.
func OpenProbe() (*Probe, error) {
	spec, err := bpf.LoadProbe()
	if err != nil {
		return nil, fmt.Errorf("read the object of %s: %w", probeName, err)
	}
	objects, err := bpf.Open(probeName, spec)
	if err != nil {
		return nil, err
	}
	opened := &Probe{objects: objects}
	for _, name := range []string{bpf.ProbeProgProbeTimer, bpf.ProbeProgProbeAck} {
		attached, err := link.AttachTracing(link.TracingOptions{Program: objects.Programs[name]})
		if err != nil {
			return nil, errors.Join(bpf.Explain("attach", probeName, err), opened.Close())
		}
		opened.links = append(opened.links, attached)
	}
	return opened, nil
}

// Watch records the acknowledgements of a socket.
func (p *Probe) Watch(cookie uint64, ringBytes int) (*Reader, error) {
	return Watch(p.objects, cookie, ringBytes)
}

// Close detaches the probe.
func (p *Probe) Close() error {
	var errs []error
	for _, attached := range p.links {
		errs = append(errs, attached.Close())
	}
	p.objects.Close()
	return errors.Join(errs...)
}
