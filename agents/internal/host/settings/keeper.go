package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"sync"
)

// Keeper changes settings for one run at a time and puts them back.
type Keeper struct {
	host      Host
	path      string
	lockPath  string
	bootID    string
	namespace string
	// fault is called before every step that a crash could separate from the next; tests crash there.
	fault func(step string)

	mu   sync.Mutex
	lock *hostLock
	// trouble is what the last Restore ended with.
	trouble error
}

// Place tells a Keeper where it is.
type Place struct {
	// StateDir holds the journal.
	StateDir string
	// LockDir holds the lock that all agents of this kernel share.
	LockDir   string
	BootID    string
	Namespace string
}

// NewKeeper returns a Keeper; it touches neither disk nor host.
func NewKeeper(host Host, place Place) *Keeper {
	return &Keeper{
		host: host, bootID: place.BootID, namespace: place.Namespace,
		path:     filepath.Join(place.StateDir, "settings-journal.json"),
		lockPath: filepath.Join(place.LockDir, "host-"+place.BootID+".lock"),
		fault:    func(string) {},
	}
}

// Outcome says how a restoration went; Differences are sentences.
type Outcome struct {
	IsRestored  bool
	Differences []string
}

// Apply journals the old values and then changes the settings. After ErrFailed the caller must Restore.
func (k *Keeper) Apply(runID string, wanted map[Key]string) error {
	return k.apply(runID, wanted, false)
}

// ApplyPossible leaves as it is what cannot be set here; what is set is kept and put back as by Apply.
func (k *Keeper) ApplyPossible(runID string, wanted map[Key]string) error {
	return k.apply(runID, wanted, true)
}

func (k *Keeper) apply(runID string, wanted map[Key]string, leavesUnset bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if pending, err := readJournal(k.path); err != nil || pending != nil {
		return errors.Join(ErrPending, err)
	}
	plan := &journal{BootID: k.bootID, Namespace: k.namespace, RunID: runID}
	for _, key := range sortedKeys(wanted) {
		change, err := k.plan(key, normalise(wanted[key]))
		if leavesUnset && errors.Is(err, ErrRefused) {
			continue
		}
		if err != nil {
			return err
		}
		if change != nil {
			plan.Entries = append(plan.Entries, *change)
		}
	}
	if len(plan.Entries) == 0 {
		return nil
	}
	return k.carryOut(plan)
}

// plan returns the change that a wanted value needs, or nil when it holds already.
func (k *Keeper) plan(key Key, value string) (*entry, error) {
	takes, known := table[key.Name]
	if !known {
		return nil, fmt.Errorf("%w: %q is not a setting that an agent changes", ErrRefused, key.Name)
	}
	old, err := k.host.Get(key)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrRefused, key.Name, err)
	}
	if old == value {
		return nil, nil // nothing to do is a good answer
	}
	if !takes.accepts(value) {
		return nil, fmt.Errorf("%w: %s takes %s, not %q", ErrRefused, key.Name, takes, value)
	}
	if why := k.host.WhyNot(key); why != "" {
		return nil, fmt.Errorf("%w: %s cannot be changed by this agent here (it is %s): %s; or leave the setting out, "+
			"or measure with `settings: best_effort`", ErrRefused, key.Name, old, why)
	}
	return &entry{Key: key, Old: old, New: value}, nil
}

func (k *Keeper) carryOut(plan *journal) error {
	if plan.touchesHost() {
		lock, err := takeHostLock(k.lockPath, k.path)
		if err != nil {
			return err
		}
		k.lock = lock
	}
	k.fault("journal")
	if err := plan.write(k.path); err != nil {
		k.unlock()
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	for _, e := range plan.Entries {
		k.fault("set " + e.Name)
		if err := k.set(e.Key, e.New); err != nil {
			return fmt.Errorf("%w: %w", ErrFailed, err)
		}
	}
	k.fault("applied")
	return nil
}

// set writes a value and reads it back: some settings are silently clamped.
func (k *Keeper) set(key Key, value string) error {
	if err := k.host.Set(key, value); err != nil {
		return fmt.Errorf("set %s to %q: %w", key.Name, value, err)
	}
	got, err := k.host.Get(key)
	if err != nil {
		return fmt.Errorf("check %s: %w", key.Name, err)
	}
	if got != value {
		return fmt.Errorf("set %s to %q: the kernel made %q of it", key.Name, value, got)
	}
	return nil
}

// Restore puts every journalled value back, checks it, and forgets the journal. Repeating it changes nothing.
// The journal stays when a value could not be put back, and Pending stays true.
func (k *Keeper) Restore() (Outcome, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	outcome, err := k.restore()
	k.trouble = err
	return outcome, err
}

func (k *Keeper) restore() (Outcome, error) {
	j, err := readJournal(k.path)
	if err != nil {
		return Outcome{Differences: []string{err.Error()}}, err
	}
	if j == nil {
		k.unlock()
		return Outcome{IsRestored: true}, nil
	}
	differences, failed := k.putBack(j)
	if failed != nil {
		return Outcome{Differences: append(differences, failed.Error())}, failed
	}
	k.fault("forget")
	if err := removeJournal(k.path); err != nil {
		return Outcome{Differences: append(differences, err.Error())}, fmt.Errorf("forget settings journal: %w", err)
	}
	k.unlock()
	return Outcome{IsRestored: true, Differences: differences}, nil
}

// putBack restores in reverse order and tries every entry, whatever became of the others.
func (k *Keeper) putBack(j *journal) (differences []string, failed error) {
	if j.BootID != k.bootID {
		// The kernel was restarted: every value is its own default again.
		return nil, nil
	}
	for _, e := range slices.Backward(j.Entries) {
		if table[e.Name].scope != ScopeHost && j.Namespace != k.namespace {
			continue // the namespace that was changed is not this one
		}
		k.fault("restore " + e.Name)
		difference, err := k.putBackOne(e)
		if difference != "" {
			differences = append(differences, difference)
		}
		failed = errors.Join(failed, err)
	}
	return differences, failed
}

func (k *Keeper) putBackOne(e entry) (difference string, err error) {
	got, err := k.host.Get(e.Key)
	if err != nil {
		return "", fmt.Errorf("restore %s to %q: %w", e.Name, e.Old, err)
	}
	if got == e.Old {
		return "", nil
	}
	if got != e.New {
		difference = fmt.Sprintf("%s was changed to %q by something else during the run; it is %q again, as before the run", e.Name, got, e.Old)
	}
	if err := k.set(e.Key, e.Old); err != nil {
		return "", fmt.Errorf("restore: %w", err)
	}
	return difference, nil
}

// Pending tells whether a journal is left, which means that the host may not be as it was.
func (k *Keeper) Pending() bool {
	j, err := readJournal(k.path)
	return err != nil || j != nil
}

// Trouble is what kept the last Restore from its end; nil where it was not tried or went well.
func (k *Keeper) Trouble() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.trouble
}

// Snapshot reads every setting that this host has; peer may be empty.
func (k *Keeper) Snapshot(peer string) map[string]string {
	values := map[string]string{}
	for name, takes := range table {
		key := Key{Name: name}
		if takes.scope == ScopeRoute {
			key.Peer = peer
		}
		if value, err := k.host.Get(key); err == nil {
			values[name] = value
		}
	}
	return values
}

// Writable lists the settings that this agent could change here.
func (k *Keeper) Writable() []string {
	var names []string
	for _, name := range Names() {
		if k.host.WhyNot(Key{Name: name}) == "" {
			names = append(names, name)
		}
	}
	return names
}

// Refused says of each setting that cannot be changed here, why.
func (k *Keeper) Refused() map[string]string {
	refused := map[string]string{}
	for _, name := range Names() {
		if why := k.host.WhyNot(Key{Name: name}); why != "" {
			refused[name] = why
		}
	}
	return refused
}

func (k *Keeper) unlock() {
	k.lock.release()
	k.lock = nil
}

func sortedKeys(values map[Key]string) []Key {
	keys := make([]Key, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool {
		return keys[i].Name < keys[j].Name || keys[i].Name == keys[j].Name && keys[i].Peer < keys[j].Peer
	})
	return keys
}
