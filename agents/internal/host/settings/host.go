package settings

import "errors"

// Key names one setting of this host. Peer is the address that a route setting leads to, and empty for all others.
type Key struct {
	Name string `json:"name"`
	Peer string `json:"peer,omitempty"`
}

// Host reads and writes settings. Values are as the kernel prints them, with single spaces.
type Host interface {
	// Get returns ErrNotSupported when this host does not have the setting.
	Get(key Key) (string, error)
	Set(key Key, value string) error
	// WhyNot says why Set could not succeed; empty where it could. It changes nothing.
	WhyNot(key Key) string
}

var (
	// ErrNotSupported means that this host does not have the setting.
	ErrNotSupported = errors.New("this host does not have the setting")
	// ErrRefused means that the setting must not or cannot be changed here; nothing was changed.
	ErrRefused = errors.New("setting refused")
	// ErrFailed means that a change was tried and did not take; Restore must follow.
	ErrFailed = errors.New("setting failed")
	// ErrBusy means that another agent of this host holds its host-wide settings.
	ErrBusy = errors.New("host-wide settings are held by another agent")
	// ErrPending means that an earlier change has not been put back yet.
	ErrPending = errors.New("settings of an earlier run are not restored")
)
