package settings

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func place(dir string) Place {
	return Place{StateDir: dir, LockDir: filepath.Join(dir, "lock"), BootID: "boot-1", Namespace: "net:[1]"}
}

// makeHost has every setting, with the value "0".
func makeHost() *FakeHost {
	h := &FakeHost{Values: map[Key]string{}, ReadOnly: map[Key]bool{}}
	for _, name := range Names() {
		h.Values[Key{Name: name}] = "0"
	}
	return h
}

func wanted(values map[string]string) map[Key]string {
	keyed := map[Key]string{}
	for name, value := range values {
		keyed[Key{Name: name}] = value
	}
	return keyed
}

const (
	hystart = "tcp_cubic.hystart"
	rmem    = "net.ipv4.tcp_rmem"

	rmemValue = "4096 131072 33554432"
)

func TestSettingsAreChangedAndPutBack(t *testing.T) {
	h := makeHost()
	before := maps.Clone(h.Values)
	k := NewKeeper(h, place(t.TempDir()))
	require.NoError(t, k.Apply("run", wanted(map[string]string{hystart: "1", rmem: "4096\t131072  33554432"})))
	require.Equal(t, "1", h.Values[Key{Name: hystart}])
	require.Equal(t, "4096 131072 33554432", h.Values[Key{Name: rmem}])
	require.True(t, k.Pending())
	journal, err := os.Stat(k.path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), journal.Mode().Perm())
	outcome, err := k.Restore()
	require.NoError(t, err)
	require.Equal(t, Outcome{IsRestored: true}, outcome)
	require.Equal(t, before, h.Values)
	require.False(t, k.Pending())
	outcome, err = k.Restore()
	require.NoError(t, err)
	require.True(t, outcome.IsRestored, "twice is once")
}

// crash is what fault points throw.
type crash struct{}

// crashAt makes a keeper die before its n-th step; it returns the steps that were reached.
func crashAt(k *Keeper, n int) *[]string {
	steps := &[]string{}
	k.fault = func(step string) {
		*steps = append(*steps, step)
		if len(*steps) > n {
			panic(crash{})
		}
	}
	return steps
}

// survive calls a function that may crash; what a dead process held is let go.
func survive(k *Keeper, call func()) {
	defer func() {
		if thrown := recover(); thrown != nil {
			if _, isCrash := thrown.(crash); !isCrash {
				panic(thrown)
			}
			if k.lock != nil {
				_ = k.lock.file.Close() // the kernel does this for a process that died
			}
		}
	}()
	call()
}

func TestAfterACrashAtAnyStepRestoreFindsTheOldValues(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(base, "state")
		require.NoError(t, err)
		h := makeHost()
		for key := range h.Values {
			h.Values[key] = rapid.SampledFrom([]string{"0", "1", "2"}).Draw(t, key.Name)
		}
		before := maps.Clone(h.Values)
		changes := map[string]string{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(Names()), 1, 6, rapid.ID).Draw(t, "changed") {
			changes[name] = edges(name)[rapid.IntRange(0, 1).Draw(t, name)]
		}

		dying := NewKeeper(h, place(dir))
		crashAt(dying, rapid.IntRange(0, 8).Draw(t, "apply survives"))
		survive(dying, func() { _ = dying.Apply("run", wanted(changes)) })
		if journal, err := readJournal(dying.path); !maps.Equal(before, h.Values) {
			require.NoError(t, err)
			require.NotNil(t, journal, "nothing may change before the journal is there")
		}

		dyingAgain := NewKeeper(h, place(dir))
		crashAt(dyingAgain, rapid.IntRange(0, 8).Draw(t, "restore survives"))
		survive(dyingAgain, func() { _, _ = dyingAgain.Restore() })

		outcome, err := NewKeeper(h, place(dir)).Restore()
		require.NoError(t, err)
		require.True(t, outcome.IsRestored)
		require.Equal(t, before, h.Values)
		require.False(t, NewKeeper(h, place(dir)).Pending())
	})
}

// edges are the least and the greatest value that a setting takes.
func edges(name string) [2]string {
	takes := table[name]
	if takes.count == 0 {
		return [2]string{"fq", "pfifo_fast"}
	}
	repeat := func(n int64) string {
		return strings.TrimSpace(strings.Repeat(strconv.FormatInt(n, 10)+" ", takes.count))
	}
	return [2]string{repeat(takes.least), repeat(takes.most)}
}

func TestOnlyTheTablesSettingsAreChanged(t *testing.T) {
	h := makeHost()
	h.Values[Key{Name: "kernel.panic"}] = "0"
	k := NewKeeper(h, place(t.TempDir()))
	err := k.Apply("run", wanted(map[string]string{hystart: "1", "kernel.panic": "1"}))
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "kernel.panic")
	require.Equal(t, "0", h.Values[Key{Name: hystart}], "nothing is changed when one setting is refused")
	require.False(t, k.Pending())
}

func TestAReadOnlySettingIsRefusedBeforeAnythingChanges(t *testing.T) {
	h := makeHost()
	h.ReadOnly[Key{Name: rmem}] = true
	k := NewKeeper(h, place(t.TempDir()))
	require.ErrorIs(t, k.Apply("run", wanted(map[string]string{hystart: "1", rmem: rmemValue})), ErrRefused)
	require.Equal(t, "0", h.Values[Key{Name: hystart}])
	require.NoError(t, k.Apply("run", wanted(map[string]string{rmem: "0"})), "a value that holds already needs no right to change it")
}

func TestAValueThatTheKernelClampsIsAFailure(t *testing.T) {
	h := makeHost()
	h.Normalise = func(key Key, value string) string {
		if value == rmemValue {
			return "100"
		}
		return value
	}
	k := NewKeeper(h, place(t.TempDir()))
	err := k.Apply("run", wanted(map[string]string{rmem: rmemValue}))
	require.ErrorIs(t, err, ErrFailed)
	require.ErrorContains(t, err, `"100"`)
	outcome, err := k.Restore()
	require.NoError(t, err)
	require.True(t, outcome.IsRestored)
	require.Equal(t, "0", h.Values[Key{Name: rmem}])
}

func TestWhatCannotBePutBackKeepsTheHostBlocked(t *testing.T) {
	h := makeHost()
	k := NewKeeper(h, place(t.TempDir()))
	require.NoError(t, k.Apply("run", wanted(map[string]string{hystart: "1", rmem: rmemValue})))
	h.ReadOnly[Key{Name: hystart}] = true
	outcome, err := k.Restore()
	require.Error(t, err)
	require.False(t, outcome.IsRestored)
	require.Equal(t, "0", h.Values[Key{Name: rmem}], "the others are put back all the same")
	require.True(t, k.Pending())
	require.ErrorIs(t, k.Apply("next", wanted(map[string]string{rmem: rmemValue})), ErrPending)
	h.ReadOnly[Key{Name: hystart}] = false
	outcome, err = k.Restore()
	require.NoError(t, err)
	require.True(t, outcome.IsRestored)
}

func TestAChangeBySomethingElseIsReportedAndUndone(t *testing.T) {
	h := makeHost()
	k := NewKeeper(h, place(t.TempDir()))
	require.NoError(t, k.Apply("run", wanted(map[string]string{hystart: "1"})))
	h.Values[Key{Name: hystart}] = "7"
	outcome, err := k.Restore()
	require.NoError(t, err)
	require.Len(t, outcome.Differences, 1)
	require.Contains(t, outcome.Differences[0], "something else")
	require.Equal(t, "0", h.Values[Key{Name: hystart}])
}

func TestAfterAReStartOfTheKernelNothingIsPutBack(t *testing.T) {
	h, dir := makeHost(), t.TempDir()
	require.NoError(t, NewKeeper(h, place(dir)).Apply("run", wanted(map[string]string{hystart: "1"})))
	h.Values[Key{Name: hystart}] = "5"
	rebooted := place(dir)
	rebooted.BootID = "boot-2"
	outcome, err := NewKeeper(h, rebooted).Restore()
	require.NoError(t, err)
	require.True(t, outcome.IsRestored)
	require.Equal(t, "5", h.Values[Key{Name: hystart}])
}

func TestInAnotherNamespaceOnlyHostWideSettingsArePutBack(t *testing.T) {
	const rmemMax = "net.core.rmem_max"
	h, dir := makeHost(), t.TempDir()
	require.NoError(t, NewKeeper(h, place(dir)).Apply("run", wanted(map[string]string{hystart: "1", rmem: rmemValue, rmemMax: "33554432"})))
	elsewhere := place(dir)
	elsewhere.Namespace = "net:[2]"
	_, err := NewKeeper(h, elsewhere).Restore()
	require.NoError(t, err)
	require.Equal(t, "0", h.Values[Key{Name: hystart}])
	require.Equal(t, "0", h.Values[Key{Name: rmemMax}], "what comes after the other namespace's too")
	require.Equal(t, rmemValue, h.Values[Key{Name: rmem}])
}

func TestAnUnreadableJournalBlocks(t *testing.T) {
	dir := t.TempDir()
	k := NewKeeper(makeHost(), place(dir))
	require.NoError(t, os.WriteFile(k.path, []byte("{"), 0o600))
	require.True(t, k.Pending())
	_, err := k.Restore()
	require.ErrorContains(t, err, "by hand")
}

// A digit of an old value that changed on the disk, or an entry that is gone, must not become a setting of the host.
func TestADamagedJournalChangesNothingAndBlocks(t *testing.T) {
	for name, spoil := range map[string]func(string) string{
		"a digit": func(text string) string { return strings.Replace(text, "\"old\": \"0\"", "\"old\": \"1\"", 1) },
		"an entry gone": func(text string) string {
			begin, end := strings.Index(text, "    {"), strings.Index(text, "    },")
			return text[:begin] + text[end+len("    },\n"):]
		},
		"another boot": func(text string) string { return strings.Replace(text, "boot-1", "boot-2", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			h := makeHost()
			k := NewKeeper(h, place(t.TempDir()))
			require.NoError(t, k.Apply("run", wanted(map[string]string{hystart: "1", rmem: rmemValue})))
			changed := maps.Clone(h.Values)
			content, err := os.ReadFile(k.path)
			require.NoError(t, err)
			spoilt := spoil(string(content))
			require.NotEqual(t, string(content), spoilt)
			require.NoError(t, os.WriteFile(k.path, []byte(spoilt), 0o600))
			require.NoError(t, os.WriteFile(copyOf(k.path), []byte(spoilt), 0o600))
			outcome, err := k.Restore()
			require.ErrorContains(t, err, "checksum")
			require.Equal(t, err, k.Trouble())
			require.False(t, outcome.IsRestored)
			require.Equal(t, changed, h.Values)
			require.True(t, k.Pending())
		})
	}
}

// One file that somebody removed, or that the disk spoilt, leaves the other.
func TestAHostIsPutBackByWhicheverFileOfTheJournalIsWhole(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"damaged": func(path string) error {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, []byte(strings.Replace(string(content), "\"old\": \"0\"", "\"old\": \"1\"", 1)), 0o600)
		},
	} {
		for _, of := range []func(string) string{func(path string) string { return path }, copyOf} {
			h := makeHost()
			k := NewKeeper(h, place(t.TempDir()))
			require.NoError(t, k.Apply("run", wanted(map[string]string{hystart: "1"})))
			require.NoError(t, spoil(of(k.path)), name)
			next := NewKeeper(h, Place{StateDir: filepath.Dir(k.path), LockDir: t.TempDir(), BootID: k.bootID, Namespace: k.namespace})
			require.True(t, next.Pending(), name)
			outcome, err := next.Restore()
			require.NoError(t, err, name)
			require.True(t, outcome.IsRestored, name)
			require.Equal(t, "0", h.Values[Key{Name: hystart}], name)
			require.False(t, next.Pending(), name)
		}
	}
}

func TestAJournalFromBeforeHasNoChecksumAndIsFollowed(t *testing.T) {
	h := makeHost()
	k := NewKeeper(h, place(t.TempDir()))
	require.NoError(t, k.Apply("run", wanted(map[string]string{hystart: "1"})))
	content, err := os.ReadFile(k.path)
	require.NoError(t, err)
	before, _, _ := strings.Cut(string(content), ",\n  \"sha256\"")
	require.NoError(t, os.WriteFile(k.path, []byte(before+"\n}"), 0o600))
	require.NoError(t, os.Remove(copyOf(k.path)))
	outcome, err := k.Restore()
	require.NoError(t, err)
	require.True(t, outcome.IsRestored)
	require.Equal(t, "0", h.Values[Key{Name: hystart}])
}

func TestTwoAgentsOfOneKernelDoNotShareHostWideSettings(t *testing.T) {
	h, locks := makeHost(), t.TempDir()
	first, second := place(t.TempDir()), place(t.TempDir())
	first.LockDir, second.LockDir = locks, locks
	holder, other := NewKeeper(h, first), NewKeeper(h, second)
	require.NoError(t, holder.Apply("run", wanted(map[string]string{hystart: "1"})))
	require.ErrorIs(t, other.Apply("run", wanted(map[string]string{"tcp_cubic.beta": "1"})), ErrBusy)
	require.NoError(t, other.Apply("run", wanted(map[string]string{rmem: rmemValue})), "a namespace's own settings disturb nobody")
	_, err := other.Restore()
	require.NoError(t, err)

	require.NoError(t, holder.lock.file.Close()) // the holder is killed
	err = other.Apply("run", wanted(map[string]string{"tcp_cubic.beta": "1"}))
	require.ErrorIs(t, err, ErrBusy, "its changes still stand")
	require.ErrorContains(t, err, first.StateDir)
	_, err = NewKeeper(h, first).Restore()
	require.NoError(t, err)
	require.NoError(t, other.Apply("run", wanted(map[string]string{"tcp_cubic.beta": "1"})))
	_, err = other.Restore()
	require.NoError(t, err)
}

func TestASnapshotHasWhatTheHostHas(t *testing.T) {
	h := makeHost()
	delete(h.Values, Key{Name: "net.core.rmem_max"})
	k := NewKeeper(h, place(t.TempDir()))
	snapshot := k.Snapshot("")
	require.NotContains(t, snapshot, "net.core.rmem_max")
	require.Len(t, snapshot, len(Names())-1)
	require.False(t, slices.Contains(k.Writable(), "net.core.rmem_max"))
}
