package bpf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

// Reasons why a program cannot be loaded here.
var (
	ErrNotSupported = errors.New("this kernel cannot run the control")
	ErrNoPrivilege  = errors.New("loading a control needs privilege")
)

// OpsMap is the name that every control's C file gives to its table of entries.
const OpsMap = "control"

// Open loads the programs and maps of spec into the kernel, without registering or attaching anything. A control's table
// of entries gets this name, so that another agent on this kernel finds it.
// Errors wrap ErrNotSupported or ErrNoPrivilege where one of them is the reason.
func Open(name string, spec *ebpf.CollectionSpec) (*ebpf.Collection, error) {
	ops := spec.Maps[OpsMap]
	if err := checkKernel(ops != nil); err != nil {
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	if ops != nil {
		ops.Name = name
	}
	objects, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, Explain("load", name, err)
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

// Explain turns the kernel's answer into a reason.
func Explain(act, name string, err error) error {
	switch {
	case lacksPrivilege(), errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES) && !isVerifierVerdict(err):
		return fmt.Errorf("%s %s: %w: run as root or with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN, "+
			"on a kernel that is not locked down for confidentiality%s", act, name, ErrNoPrivilege, lockdown())
	case errors.Is(err, ebpf.ErrNotSupported), errors.Is(err, btf.ErrNotFound), isVerifierVerdict(err):
		return fmt.Errorf("%s %s: %w: %w", act, name, ErrNotSupported, err)
	}
	return fmt.Errorf("%s %s: %w", act, name, err)
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
