package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// IsWritable opens the setting for writing, which is where the kernel checks permission, and writes nothing.
func (LinuxHost) IsWritable(key Key) bool {
	if table[key.Name].scope == ScopeRoute {
		return mayChangeRoutes()
	}
	file, err := os.OpenFile(path(key.Name), os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	return file.Close() == nil
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
