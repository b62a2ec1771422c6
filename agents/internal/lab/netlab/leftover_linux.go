package netlab

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Found is a link as its namespaces and devices show it, made by any program.
type Found struct {
	Name      string              `json:"name"`
	Profile   string              `json:"profile"`
	Pid       int                 `json:"pid"`
	IsRunning bool                `json:"is_running"`
	Hosts     map[string]HostInfo `json:"hosts"`

	namespaces []string
	devices    []string
}

// List finds the links of the caller's namespace, leftovers included, by name.
func List() ([]Found, error) {
	found := map[string]*Found{}
	if err := findNamespaces(found); err != nil {
		return nil, err
	}
	if err := findDevices(found); err != nil {
		return nil, err
	}
	var links []Found
	for _, link := range found {
		links = append(links, *link)
	}
	slices.SortFunc(links, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	return links, nil
}

// Find finds one link by its name.
func Find(name string) (Found, error) {
	links, err := List()
	if err != nil {
		return Found{}, err
	}
	for _, link := range links {
		if link.Name == name {
			return link, nil
		}
	}
	return Found{}, fmt.Errorf("no link is called %q: `downlink-agent link list` shows what there is", name)
}

func entry(found map[string]*Found, name string) *Found {
	if found[name] == nil {
		found[name] = &Found{Name: name, Hosts: map[string]HostInfo{}}
	}
	return found[name]
}

func findNamespaces(found map[string]*Found) error {
	entries, err := os.ReadDir(namespaceFolder)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("list namespaces: %w", err)
	}
	for _, e := range entries {
		parts := namespaceName.FindStringSubmatch(e.Name())
		if parts == nil {
			continue
		}
		link := entry(found, parts[1])
		link.namespaces = append(link.namespaces, e.Name())
		if p := placeOf(parts[2]); p != gateway {
			link.Hosts[p.host()] = HostInfo{Namespace: e.Name()}
		}
	}
	return nil
}

// findDevices reads what the hub's devices remember.
func findDevices(found map[string]*Found) error {
	devices, err := listDevices()
	if err != nil {
		return fmt.Errorf("list devices: %w", err)
	}
	for _, device := range devices {
		var index int
		var suffix string
		var mark tag
		name := device.Attrs().Name
		if n, _ := fmt.Sscanf(name, "dl%d-%s", &index, &suffix); n != 2 || json.Unmarshal([]byte(device.Attrs().Alias), &mark) != nil {
			continue
		}
		link := entry(found, mark.Link)
		link.Profile, link.Pid, link.IsRunning = mark.Profile, mark.Pid, isHeld(mark.Link)
		link.devices = append(link.devices, name)
		p := placeOf(suffix)
		link.Hosts[p.host()] = subnets{index}.info(mark.Link, p, "")
	}
	return nil
}

// listDevices asks again when devices came or went meanwhile, which other links do at any time.
func listDevices() (devices []netlink.Link, err error) {
	for range 20 {
		if devices, err = netlink.LinkList(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	return devices, err
}

// isHeld says whether the process that made a link lives: the link's TUN devices vanish with it.
func isHeld(link string) bool {
	ns, err := netns.GetFromName(gateway.namespace(link))
	if err != nil {
		return false
	}
	defer func() { _ = ns.Close() }()
	return inside(ns, func() error {
		_, err := netlink.LinkByName("data")
		return err
	}) == nil
}

// Down removes a link: by asking the process that holds it, and by hand whatever is left without one.
func Down(link Found) error {
	if link.IsRunning {
		if err := unix.Kill(link.Pid, unix.SIGTERM); err != nil && err != unix.ESRCH {
			return fmt.Errorf("ask the holder of link %s to end: %w", link.Name, err)
		}
		if !waitFor(closeWithin, func() bool { return !isHeld(link.Name) && !exists(link.Pid) }) {
			return fmt.Errorf("process %d still holds link %s after %v", link.Pid, link.Name, closeWithin)
		}
	}
	return link.remove()
}

// RemoveLeftover removes what a killed process left of a link, and says whether there was any. A link whose maker lives,
// or is not yet known because it is being built, is not touched.
func RemoveLeftover(name string) (bool, error) {
	links, err := List()
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(links, func(link Found) bool { return link.Name == name })
	if at < 0 || links[at].IsRunning || links[at].Pid == 0 || exists(links[at].Pid) {
		return false, nil
	}
	return true, links[at].remove()
}

// exists says whether a process is alive. One that has ended but was not yet waited for is not.
func exists(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ") // the name in brackets may hold anything
	return err == nil && !strings.HasPrefix(state, "Z")
}

func (f Found) remove() error {
	errs := []error{endProcesses(f.namespaces)}
	for _, device := range f.devices {
		errs = append(errs, removeDevice(device))
	}
	for _, name := range f.namespaces {
		errs = append(errs, removeNamespace(name))
	}
	return errors.Join(errs...)
}

const (
	// endWithin is how long processes in a link's namespaces have after SIGTERM: agents abort a run and restore their host.
	endWithin   = 20 * time.Second
	closeWithin = endWithin + 10*time.Second
)

// endProcesses ends the processes that live in the namespaces, first politely.
func endProcesses(namespaces []string) error {
	var errs []error
	alive := func() (pids []int) {
		for _, name := range namespaces {
			found, err := processesIn(name)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
			pids = append(pids, found...)
		}
		return slices.DeleteFunc(pids, func(pid int) bool { return pid == os.Getpid() })
	}
	for _, signal := range []syscall.Signal{unix.SIGTERM, unix.SIGKILL} {
		for _, pid := range alive() {
			_ = unix.Kill(pid, signal) // gone already is fine
		}
		if waitFor(endWithin, func() bool { return len(alive()) == 0 }) {
			break
		}
	}
	return errors.Join(errs...)
}

func waitFor(limit time.Duration, is func() bool) bool {
	for end := time.Now().Add(limit); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// HostNames lists the hosts of a link, the receiver first.
func (f Found) HostNames() []string {
	names := slices.Collect(maps.Keys(f.Hosts))
	slices.Sort(names) // "receiver" sorts before "sender-…"
	return names
}
