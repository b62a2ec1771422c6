package controls

import (
	"errors"
	"fmt"

	"downlink/agents/internal/bpf"
	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/flow/socket"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// Loaded is a registered control. Any program on the host may select it by name until Close, or until this process
// ends in whatever way: the kernel drops the registration with the last file descriptor. Sockets that have selected
// it keep it for their lifetime.
type Loaded struct {
	Control Control
	objects *ebpf.Collection
	link    link.Link
}

// Load registers a control with its options fixed, or shares the registration of another process that asked for the
// same. options may be nil.
// Errors wrap ErrUnknownControl, ErrBadOption, bpf.ErrNotSupported, bpf.ErrNoPrivilege or ErrAlreadyRegistered.
func Load(name string, options map[string]any) (*Loaded, error) {
	known, err := Find(name)
	if err != nil {
		return nil, err
	}
	objects, err := known.open(options)
	if err != nil {
		return nil, err
	}
	attached, err := link.AttachStructOps(link.StructOpsOptions{Map: objects.Maps[bpf.OpsMap]})
	if err == nil {
		return &Loaded{Control: known, objects: objects, link: attached}, nil
	}
	defer objects.Close()
	if errors.Is(err, unix.EEXIST) {
		joined, joinErr := known.join(objects)
		if joinErr == nil {
			return joined, nil
		}
		return nil, fmt.Errorf("register %s: %w: %w; end the program that holds it, then try again", name, ErrAlreadyRegistered, joinErr)
	}
	return nil, bpf.Explain("register", name, err)
}

// Watch records the acknowledgements of a socket that uses this control.
func (l *Loaded) Watch(cookie uint64, ringBytes int) (*acks.Reader, error) {
	return acks.Watch(l.objects, cookie, ringBytes)
}

// Close takes the control out of the kernel's list.
func (l *Loaded) Close() error {
	err := l.link.Close()
	l.objects.Close()
	if err != nil {
		return fmt.Errorf("unregister %s: %w", l.Control.Name, err)
	}
	return nil
}

// Ability says why this host cannot run a control, nil when it can. The kernel's verifier judges the real program; a
// control that another program has registered needs no privilege.
func (c *Control) Ability() error {
	objects, err := c.open(nil)
	if errors.Is(err, bpf.ErrNoPrivilege) && socket.CheckControl(c.Name) == nil {
		return nil
	}
	if err != nil {
		return err
	}
	objects.Close()
	return nil
}

// open loads programs and maps into the kernel, without registering anything.
func (c *Control) open(options map[string]any) (*ebpf.Collection, error) {
	values, err := c.constants(options)
	if err != nil {
		return nil, err
	}
	spec, err := c.spec()
	if err != nil {
		return nil, fmt.Errorf("read the object of %s: %w", c.Name, err)
	}
	for i := range c.Options {
		option := &c.Options[i]
		if err := spec.Variables[option.variable()].Set(values[option.Name]); err != nil {
			return nil, fmt.Errorf("set %s of %s: %w", option.Name, c.Name, err)
		}
	}
	return bpf.Open(c.Name, spec)
}
