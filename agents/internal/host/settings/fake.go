package settings

import (
	"errors"
	"fmt"
	"sync"
)

// FakeHost is a Host in memory. Its zero value has no settings.
type FakeHost struct {
	mu     sync.Mutex
	Values map[Key]string
	// ReadOnly settings refuse to be set.
	ReadOnly map[Key]bool
	// Normalise, when set, is what the host makes of a written value.
	Normalise func(key Key, value string) string
}

// Get returns the value in memory.
func (f *FakeHost) Get(key Key) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	value, known := f.Values[key]
	if !known {
		return "", fmt.Errorf("%s: %w", key.Name, ErrNotSupported)
	}
	return value, nil
}

// Set changes the value in memory.
func (f *FakeHost) Set(key Key, value string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ReadOnly[key] {
		return errors.New("permission denied")
	}
	if f.Normalise != nil {
		value = f.Normalise(key, value)
	}
	f.Values[key] = value
	return nil
}

// WhyNot is empty where the setting exists and is not read-only.
func (f *FakeHost) WhyNot(key Key) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.Values[key]; !known {
		return "this host does not have it"
	}
	if f.ReadOnly[key] {
		return "it is read-only"
	}
	return ""
}
