package settings

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSettingsAreChangedInOneOrderAndPutBackInTheOther(t *testing.T) {
	keys := []Key{{"a", "1"}, {"a", "2"}, {"b", ""}, {"c", "0"}}
	values := map[Key]string{}
	for _, key := range keys {
		values[key] = "x"
	}
	for range 20 { // a map's order is another each time
		require.Equal(t, keys, sortedKeys(values))
	}
	h := makeHost()
	k := NewKeeper(h, place(t.TempDir()))
	var steps []string
	k.fault = func(step string) { steps = append(steps, step) }
	require.NoError(t, k.Apply("run", wanted(map[string]string{hystart: "1", rmem: rmemValue})))
	_, err := k.Restore()
	require.NoError(t, err)
	require.Equal(t, []string{"journal", "set " + rmem, "set " + hystart, "applied", "restore " + hystart, "restore " + rmem, "forget"}, steps)
}

func TestASnapshotReadsRoutesTowardsThePeerAndAllElseWithoutOne(t *testing.T) {
	const peer = "198.51.100.1"
	h := &FakeHost{Values: map[Key]string{
		{RouteInitCwnd, peer}: "10", {RouteInitRwnd, ""}: "20", {hystart, ""}: "1", {rmem, peer}: "never",
	}}
	require.Equal(t, map[string]string{RouteInitCwnd: "10", hystart: "1"}, NewKeeper(h, place(t.TempDir())).Snapshot(peer))
}

func TestOnlyWhatCanBeWrittenIsOffered(t *testing.T) {
	h := &FakeHost{Values: map[Key]string{{hystart, ""}: "1", {rmem, ""}: rmemValue}, ReadOnly: map[Key]bool{{rmem, ""}: true}}
	require.Equal(t, []string{hystart}, NewKeeper(h, place(t.TempDir())).Writable())
	require.Error(t, h.Set(Key{rmem, ""}, "1"))
	require.NoError(t, h.Set(Key{hystart, ""}, "0"))
	_, err := h.Get(Key{"net.ipv4.tcp_sack", ""})
	require.ErrorIs(t, err, ErrNotSupported)
}

func TestARefusalSaysWhatASettingTakes(t *testing.T) {
	require.Equal(t, "the name of a queueing discipline", table["net.core.default_qdisc"].String())
	require.Equal(t, "a whole number from 0 to 1", table[hystart].String())
	require.Equal(t, "3 rising whole numbers from 4096 to 2147483647", table[rmem].String())
}

func TestANameOfAQueueingDisciplineHasAtMostFifteenCharacters(t *testing.T) {
	require.True(t, table["net.core.default_qdisc"].accepts(strings.Repeat("a", 15)))
	require.False(t, table["net.core.default_qdisc"].accepts(strings.Repeat("a", 16)))
	require.True(t, table["net.core.default_qdisc"].accepts("a"))
}

func TestEqualNumbersRiseEnough(t *testing.T) {
	require.True(t, table[rmem].accepts("4096 4096 4096"))
	require.False(t, table[rmem].accepts("4096 4096 4095"))
}

func TestAHostWideSettingAloneAsksForTheHostsLock(t *testing.T) {
	of := func(names ...string) *journal {
		j := &journal{}
		for _, name := range names {
			j.Entries = append(j.Entries, entry{Key: Key{Name: name}})
		}
		return j
	}
	require.False(t, of().touchesHost())
	require.False(t, of(rmem, RouteInitCwnd).touchesHost())
	require.True(t, of(rmem, hystart).touchesHost())
}

func TestAValueThatHoldsAlreadyNeedsNoJournal(t *testing.T) {
	h := makeHost()
	k := NewKeeper(h, place(t.TempDir()))
	require.NoError(t, k.Apply("run", wanted(map[string]string{hystart: "0"})))
	require.False(t, k.Pending())
	require.NoFileExists(t, k.path)
}

func TestWhoeverChangedASettingMeanwhileIsNamedWithItsValue(t *testing.T) {
	h, dir := makeHost(), t.TempDir()
	k := NewKeeper(h, place(dir))
	require.NoError(t, k.Apply("run", wanted(map[string]string{rmem: rmemValue})))
	h.Values[Key{Name: rmem}] = "something else"
	outcome, err := k.Restore()
	require.NoError(t, err)
	require.Equal(t, []string{
		`net.ipv4.tcp_rmem was changed to "something else" by something else during the run; it is "0" again, as before the run`,
	}, outcome.Differences)
	require.True(t, outcome.IsRestored)
	require.False(t, errors.Is(k.Apply("next", wanted(map[string]string{rmem: rmemValue})), ErrPending))
}
