package congestion

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// opsMap is the name that every control's C file gives to its table of entries.
const opsMap = "control"

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
// Errors wrap ErrUnknownControl, ErrBadOption, ErrNotSupported, ErrNoPrivilege or ErrAlreadyRegistered.
func Load(name string, options map[string]any) (*Loaded, error) {
	known, err := Find(name)
	if err != nil {
		return nil, err
	}
	objects, err := known.open(options)
	if err != nil {
		return nil, err
	}
	attached, err := link.AttachStructOps(link.StructOpsOptions{Map: objects.Maps[opsMap]})
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
	return nil, known.explain("register", err)
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
	if errors.Is(err, ErrNoPrivilege) && Check(c.Name) == nil {
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
	if err := checkKernel(spec.Maps[opsMap] != nil); err != nil {
		return nil, fmt.Errorf("load %s: %w", c.Name, err)
	}
	for i := range c.Options {
		option := &c.Options[i]
		if err := spec.Variables[option.variable()].Set(values[option.Name]); err != nil {
			return nil, fmt.Errorf("set %s of %s: %w", option.Name, c.Name, err)
		}
	}
	if ops := spec.Maps[opsMap]; ops != nil {
		ops.Name = c.Name // by which another agent on this kernel finds it
	}
	objects, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, c.explain("load", err)
	}
	return objects, nil
}

// checkKernel looks for what programs need, and for what controls need beyond it. A registration that is not bound to a
// link (kernels before 6.4) would outlive the agent, so it is not offered.
func checkKernel(isControl bool) error {
	kernel, err := btf.LoadKernelSpec()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, btf.ErrNotSupported) {
		return fmt.Errorf("%w: it has no type information (CONFIG_DEBUG_INFO_BTF)", ErrNotSupported)
	}
	if err != nil {
		return fmt.Errorf("read the kernel's type information: %w", err)
	}
	if !isControl {
		return nil
	}
	for _, need := range []struct{ name, meaning string }{
		{"bpf_struct_ops_tcp_congestion_ops", "congestion controls in BPF (kernel 5.6, CONFIG_BPF_JIT)"},
		{"bpf_struct_ops_link", "registration that ends with the process (kernel 6.4)"},
	} {
		if _, err := kernel.AnyTypesByName(need.name); err != nil {
			return fmt.Errorf("%w: it lacks %s", ErrNotSupported, need.meaning)
		}
	}
	return nil
}

// explain turns the kernel's answer into a reason.
func (c *Control) explain(act string, err error) error {
	switch {
	case lacksPrivilege(), errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES) && !isVerifierVerdict(err):
		return fmt.Errorf("%s %s: %w: run as root or with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN, on a kernel that is not locked down for confidentiality%s", act, c.Name, ErrNoPrivilege, lockdown())
	case errors.Is(err, ebpf.ErrNotSupported), errors.Is(err, btf.ErrNotFound), isVerifierVerdict(err):
		return fmt.Errorf("%s %s: %w: %w", act, c.Name, ErrNotSupported, err)
	}
	return fmt.Errorf("%s %s: %w", act, c.Name, err)
}

// lacksPrivilege asks for the capabilities themselves: the library's feature probes fail in many words without them.
func lacksPrivilege() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if unix.Capget(&header, &sets[0]) != nil {
		return false
	}
	effective := uint64(sets[1].Effective)<<32 | uint64(sets[0].Effective)
	lacks := func(capability uint) bool { return effective&(1<<capability) == 0 }
	return lacks(unix.CAP_SYS_ADMIN) && (lacks(unix.CAP_BPF) || lacks(unix.CAP_PERFMON) || lacks(unix.CAP_NET_ADMIN))
}

func isVerifierVerdict(err error) bool {
	var verdict *ebpf.VerifierError
	return errors.As(err, &verdict) && len(verdict.Log) > 0
}

// lockdown says what mode the kernel is locked down to, empty when it is not or does not tell.
func lockdown() string {
	content, err := os.ReadFile("/sys/kernel/security/lockdown")
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(content), "[")
	mode, _, found := strings.Cut(after, "]")
	if !found || mode == "none" {
		return ""
	}
	return " (it is locked down: " + mode + ")"
}
