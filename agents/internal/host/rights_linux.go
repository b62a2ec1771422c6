package host

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// wantedRights are the capabilities that the agent's unit keeps, and what each is for.
var wantedRights = []struct {
	number  uint
	name    string
	purpose string
}{
	{unix.CAP_NET_ADMIN, "CAP_NET_ADMIN", "network settings and routes"},
	{unix.CAP_BPF, "CAP_BPF", "its own congestion controls"},
	{unix.CAP_PERFMON, "CAP_PERFMON", "recording every ACK"},
}

// LackingRights lists the capabilities that this process lacks, each with what it is for.
func LackingRights() ([]string, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return nil, fmt.Errorf("ask for capabilities: %w", err)
	}
	effective := uint64(sets[1].Effective)<<32 | uint64(sets[0].Effective)
	lacking := []string{}
	for _, right := range wantedRights {
		if effective&(1<<right.number) == 0 {
			lacking = append(lacking, fmt.Sprintf("%s (%s)", right.name, right.purpose))
		}
	}
	return lacking, nil
}

// IsClockSynchronised asks the kernel whether a time service keeps its clock, and within what it says that it is exact.
func IsClockSynchronised() (isSynchronised bool, errorUs int64, err error) {
	var state unix.Timex
	code, err := unix.Adjtimex(&state)
	if err != nil {
		return false, 0, fmt.Errorf("ask for the clock's state: %w", err)
	}
	return code != unix.TIME_ERROR && state.Status&unix.STA_UNSYNC == 0, state.Maxerror, nil
}

// CanWrite tries to write a file into a folder.
func CanWrite(dir string) error {
	file, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	_, err = file.WriteString("x")
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if removeErr := os.Remove(file.Name()); err == nil {
		err = removeErr
	}
	return err
}

// IsUp tells whether an interface is up.
func IsUp(name string) (bool, error) {
	device, err := net.InterfaceByName(name)
	if err != nil {
		return false, err
	}
	return slices.Contains(strings.Split(device.Flags.String(), "|"), "up"), nil
}
