package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// LinuxHost is the running kernel as this process sees it: its own network namespace, its own routes.
type LinuxHost struct{}

// path returns the file of a sysctl or module parameter.
func path(name string) string {
	if parameter, isModule := strings.CutPrefix(name, "tcp_cubic."); isModule {
		return filepath.Join("/sys/module/tcp_cubic/parameters", parameter)
	}
	return filepath.Join("/proc/sys", strings.ReplaceAll(name, ".", "/"))
}

// Get reads the setting.
func (LinuxHost) Get(key Key) (string, error) {
	if table[key.Name].scope == ScopeRoute {
		return getRoute(key)
	}
	content, err := os.ReadFile(path(key.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", key.Name, ErrNotSupported)
	}
	if err != nil {
		return "", fmt.Errorf("read setting: %w", err)
	}
	return normalise(string(content)), nil
}

// Set writes the setting.
func (LinuxHost) Set(key Key, value string) error {
	if table[key.Name].scope == ScopeRoute {
		return setRoute(key, value)
	}
	if err := os.WriteFile(path(key.Name), []byte(value), 0); err != nil {
		return fmt.Errorf("write setting: %w", err)
	}
	return nil
}

// WhyNot opens the setting for writing, which is where the kernel checks permission, and writes nothing.
func (LinuxHost) WhyNot(key Key) string {
	if table[key.Name].scope == ScopeRoute {
		if mayChangeRoutes() {
			return ""
		}
		return "this process may not change routes; run the agent as root or with CAP_NET_ADMIN"
	}
	file, err := os.OpenFile(path(key.Name), os.O_WRONLY, 0)
	switch {
	case err == nil:
		_ = file.Close()
		return ""
	case errors.Is(err, syscall.EROFS):
		return "the file system of " + filepath.Dir(path(key.Name)) +
			" is read-only for this process, as in a plain container; give the container a writable one, or run the agent on the host itself"
	case errors.Is(err, fs.ErrNotExist):
		return "this kernel, or this network namespace, does not have it"
	case errors.Is(err, fs.ErrPermission):
		return "this process may not write it; run the agent as root or with CAP_NET_ADMIN"
	}
	return err.Error()
}

func normalise(value string) string { return strings.Join(strings.Fields(value), " ") }

// BootID names the running kernel.
func BootID() (string, error) {
	content, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read boot id: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// Namespace names the network namespace of this process.
func Namespace() (string, error) {
	name, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return "", fmt.Errorf("read network namespace: %w", err)
	}
	return name, nil
}
