package volume

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func day(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.DateTime, text)
	require.NoError(t, err)
	return at
}

func TestAMonthBeginsOnItsDay(t *testing.T) {
	for _, c := range []struct {
		at   string
		day  int
		want string
	}{
		{"2026-11-25 03:00:00", 1, "2026-11-01"},
		{"2026-11-25 00:00:00", 25, "2026-11-25"},
		{"2026-11-24 23:59:59", 25, "2026-10-25"},
		{"2026-01-01 00:00:00", 2, "2025-12-02"},
		{"2028-02-29 12:00:00", 28, "2028-02-28"},
		{"2026-03-01 00:00:00", 28, "2026-02-28"},
	} {
		require.Equal(t, c.want, Begin(day(t, c.at), c.day).Format(dateForm), c.at)
	}
}

func TestARunIsCountedAndTheNextMonthIsNew(t *testing.T) {
	dir, now := t.TempDir(), day(t, "2026-11-25 03:00:00")
	var moved atomic.Int64
	settle, err := Open(dir, 100e6, 20).Meter(now, moved.Load)
	require.NoError(t, err)
	moved.Store(30e6)
	require.NoError(t, settle())

	again := Open(dir, 100e6, 20)
	left, err := again.Left(now)
	require.NoError(t, err)
	require.Equal(t, int64(70e6), left)
	left, err = again.Left(day(t, "2026-12-20 00:00:00"))
	require.NoError(t, err)
	require.Equal(t, int64(100e6), left)

	require.Equal(t, "over_budget: this host's policy (monthly_bytes) allows 30000000 bytes per month, and they are used up until 2026-12-20",
		Open(dir, 30e6, 20).UsedUp(now))
	require.Empty(t, Open(dir, 30e6+1, 20).UsedUp(now))
}

func TestAnotherResetDayGivesNothingBack(t *testing.T) {
	now := day(t, "2026-11-27 03:00:00")
	for _, c := range []struct{ before, after int }{{28, 15}, {15, 28}, {27, 26}, {1, 27}} {
		dir := t.TempDir()
		settle, err := Open(dir, 100e6, c.before).Meter(now, func() int64 { return 30e6 })
		require.NoError(t, err)
		require.NoError(t, settle())
		ledger := Open(dir, 100e6, c.after)
		left, err := ledger.Left(now)
		require.NoError(t, err)
		require.Equal(t, int64(70e6), left, "from the %d. to the %d.", c.before, c.after)
		month, err := ledger.Month(now)
		require.NoError(t, err)
		resets := Begin(now, c.after).AddDate(0, 1, 0)
		require.Equal(t, Month{100e6, 30e6, resets.Format(dateForm)}, month)

		settle, err = ledger.Meter(now, func() int64 { return 1 })
		require.NoError(t, err)
		require.NoError(t, settle())
		left, err = ledger.Left(resets.Add(-time.Second))
		require.NoError(t, err)
		require.Equal(t, int64(70e6-1), left)
		left, err = ledger.Left(resets)
		require.NoError(t, err)
		require.Equal(t, int64(100e6), left, "the next month is new")
	}
}

func TestACountOfAnotherResetDayEndsWithItsMonth(t *testing.T) {
	dir := t.TempDir()
	settle, err := Open(dir, 100e6, 28).Meter(day(t, "2026-11-27 03:00:00"), func() int64 { return 30e6 })
	require.NoError(t, err)
	require.NoError(t, settle())
	ledger := Open(dir, 100e6, 15)
	left, err := ledger.Left(day(t, "2026-11-28 00:00:00"))
	require.NoError(t, err)
	require.Equal(t, int64(100e6), left)
}

func TestTheDiskIsAheadOfARunThatNobodyEnds(t *testing.T) {
	dir, now := t.TempDir(), day(t, "2026-11-25 03:00:00")
	var moved atomic.Int64
	settle, err := Open(dir, 1e9, 1).Meter(now, moved.Load)
	require.NoError(t, err)
	defer func() { require.NoError(t, settle()) }()
	killed := Open(dir, 1e9, 1) // what a new process finds
	left, err := killed.Left(now)
	require.NoError(t, err)
	require.Less(t, left, int64(1e9))
	moved.Store(500e6)
	require.Eventually(t, func() bool {
		left, err := killed.Left(now)
		return err == nil && left <= 500e6
	}, time.Minute, 10*time.Millisecond)
}

func TestAClockThatIsPutBackGivesNothingBack(t *testing.T) {
	dir := t.TempDir()
	settle, err := Open(dir, 100, 1).Meter(day(t, "2026-11-25 03:00:00"), func() int64 { return 100 })
	require.NoError(t, err)
	require.NoError(t, settle())
	back := day(t, "2026-09-25 03:00:00")
	require.Contains(t, Open(dir, 100, 1).UsedUp(back), "until 2026-12-01")
}

func TestACountThatCannotBeReadIsUsedUp(t *testing.T) {
	for _, content := range []string{"", "{", `{"from": "soon", "bytes": 1}`, `{"from": "2026-11-01", "bytes": -5}`} {
		dir, now := t.TempDir(), day(t, "2026-11-25 03:00:00")
		require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), []byte(content), 0o600))
		l := Open(dir, 100, 1)
		require.Contains(t, l.UsedUp(now), "cannot be read")
		_, err := l.Meter(now, func() int64 { return 0 })
		require.Error(t, err)
	}
}

func TestWithoutALimitNothingIsWritten(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	settle, err := Open(dir, 0, 1).Meter(now, func() int64 { return 5 })
	require.NoError(t, err)
	require.NoError(t, settle())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, files)
	require.Empty(t, Open(dir, 0, 1).UsedUp(now))
}
