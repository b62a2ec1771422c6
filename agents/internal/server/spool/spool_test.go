package spool_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"downlink/agents/internal/server/spool"
)

var key = spool.Key{RunID: "01890a5d", Attempt: 1, Flow: 1, Point: "sender", Sequence: 0}

func open(t require.TestingT, dir string) *spool.Spool {
	s, err := spool.Open(dir, 0)
	require.NoError(t, err)
	return s
}

func chunkPath(dir string) string { return filepath.Join(dir, "01890a5d", "1", "1-sender-0.dlc") }

func TestAChunkIsKeptUntilItIsRemoved(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, open(t, dir).Put(key, []byte("payload")))
	reopened := open(t, dir)
	payload, err := reopened.Get(key)
	require.NoError(t, err)
	require.Equal(t, "payload", string(payload))
	require.Equal(t, []spool.Held{{RunID: "01890a5d", Attempt: 1, Chunks: 1, Bytes: 12 + 7}}, reopened.Held())
	require.NoError(t, reopened.Remove(key))
	require.NoError(t, reopened.Remove(key), "twice is once")
	require.Empty(t, reopened.Held())
	require.NoDirExists(t, filepath.Join(dir, "01890a5d"))
}

func TestTheFileIsWhatTheFormatSays(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, open(t, dir).Put(key, []byte("123456789")))
	file, err := os.ReadFile(chunkPath(dir))
	require.NoError(t, err)
	// E3069283 is the check value of CRC-32C for these nine bytes.
	require.Equal(t, append([]byte("DLC1\x83\x92\x06\xe3\x09\x00\x00\x00"), "123456789"...), file)
}

func TestEveryTruncationAndEveryFlippedByteIsFoundAndSetAside(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	require.NoError(t, s.Put(key, []byte("some payload")))
	whole, err := os.ReadFile(chunkPath(dir))
	require.NoError(t, err)
	requireQuarantined := func(content []byte, what string, at int) {
		require.NoError(t, os.WriteFile(chunkPath(dir), content, 0o600))
		_, err := s.Get(key)
		require.ErrorIs(t, err, spool.ErrCorrupt, "%s at %d", what, at)
		require.NoFileExists(t, chunkPath(dir))
		require.FileExists(t, chunkPath(dir)+".bad")
	}
	for length := range whole {
		requireQuarantined(whole[:length], "truncated", length)
	}
	for at := range whole {
		flipped := append([]byte(nil), whole...)
		flipped[at] ^= 0x10
		requireQuarantined(flipped, "flipped", at)
	}
	require.Empty(t, s.Keys(key.RunID, key.Attempt), "a chunk that was set aside is not listed")
}

func TestAnInterruptedPutLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, open(t, dir).Put(key, []byte("x")))
	torn := filepath.Join(dir, "01890a5d", "1", "1-sender-1.dlc.tmp")
	require.NoError(t, os.WriteFile(torn, []byte("DLC"), 0o600))
	require.Equal(t, []spool.Key{key}, open(t, dir).Keys(key.RunID, key.Attempt))
	require.NoFileExists(t, torn)
}

func TestAFullSpoolRefusesAndKeepsWhatItHas(t *testing.T) {
	s, err := spool.Open(t.TempDir(), 100)
	require.NoError(t, err)
	require.NoError(t, s.Put(key, make([]byte, 60)))
	second := key
	second.Sequence = 1
	require.ErrorIs(t, s.Put(second, make([]byte, 60)), spool.ErrFull)
	_, err = s.Get(key)
	require.NoError(t, err)
}

func TestARunIdCannotLeaveTheSpool(t *testing.T) {
	s := open(t, t.TempDir())
	for _, id := range []string{"..", "../../escaped", "a/b", "", "."} {
		escaping := key
		escaping.RunID = id
		require.Error(t, s.Put(escaping, []byte("x")), id)
		require.NoError(t, s.Discard(id, 1), "there is nothing to discard outside")
	}
}

func TestWhatIsHeldIsWhatWasPutAndNotRemoved(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(base, "spool")
		require.NoError(t, err)
		s, kept := open(t, dir), map[spool.Key]string{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			k := spool.Key{
				RunID: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "run"), Attempt: rapid.IntRange(1, 2).Draw(t, "attempt"),
				Flow: 1, Point: rapid.SampledFrom([]string{"sender", "receiver", "link", "hop-3", "hop-12"}).Draw(t, "point"),
				Sequence: rapid.IntRange(0, 12).Draw(t, "sequence"),
			}
			if rapid.Bool().Draw(t, "put") {
				content := rapid.String().Draw(t, "content")
				require.NoError(t, s.Put(k, []byte(content)))
				kept[k] = content
			} else {
				require.NoError(t, s.Remove(k))
				delete(kept, k)
			}
		}
		requireHolds(t, s, kept)
		requireHolds(t, open(t, dir), kept)
	})
}

// Whatever a crash, a bad disk or the owner's limits do: what was put is there as it was, or is named as bad, or was listed as overdue.
func TestNothingThatWasPutIsLostWithoutAName(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(base, "spool")
		require.NoError(t, err)
		s, kept, damaged := open(t, dir), map[spool.Key]string{}, map[spool.Key]bool{}
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			k := spool.Key{
				RunID: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "run"), Attempt: 1, Flow: 1,
				Point: rapid.SampledFrom([]string{"sender", "hop-3"}).Draw(t, "point"), Sequence: rapid.IntRange(0, 5).Draw(t, "sequence"),
			}
			path := filepath.Join(dir, k.RunID, "1", fmt.Sprintf("1-%s-%d.dlc", k.Point, k.Sequence))
			switch rapid.SampledFrom([]string{"put", "put", "put", "tear", "flip", "crash", "limit"}).Draw(t, "step") {
			case "put":
				if damaged[k] { // an agent writes each chunk once
					continue
				}
				content := rapid.StringN(1, 40, -1).Draw(t, "content")
				require.NoError(t, s.Put(k, []byte(content)))
				kept[k] = content
			case "tear", "flip":
				content, err := os.ReadFile(path)
				if err != nil {
					continue
				}
				at := rapid.IntRange(0, len(content)-1).Draw(t, "at")
				torn := content[:at]
				if rapid.Bool().Draw(t, "flipped") {
					torn = append([]byte(nil), content...)
					torn[at] ^= 1
				}
				require.NoError(t, os.WriteFile(path, torn, 0o600))
				damaged[k] = true
			case "crash": // in the middle of a write: the name is not there yet
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path+".tmp", []byte("DLC"), 0o600))
				s = open(t, dir)
			case "limit":
				for _, overdue := range s.Overdue(spool.Hold{MaxBytes: rapid.Int64Range(1, 200).Draw(t, "bytes")}, time.Now()) {
					require.False(t, overdue.IsOld)
					named := requireAllNamed(t, s, overdue.RunID, kept, damaged)
					require.NoError(t, s.Discard(overdue.RunID, overdue.Attempt))
					for k := range named {
						delete(kept, k)
						delete(damaged, k)
					}
				}
			}
		}
		for _, run := range []string{"a", "b"} {
			requireAllNamed(t, s, run, kept, damaged)
			requireAllNamed(t, open(t, dir), run, kept, damaged)
		}
	})
}

// requireAllNamed returns the chunks of a run that the spool names, which must be all of them.
func requireAllNamed(t *rapid.T, s *spool.Spool, run string, kept map[spool.Key]string, damaged map[spool.Key]bool) map[spool.Key]bool {
	named := map[spool.Key]bool{}
	for _, k := range s.Keys(run, 1) {
		payload, err := s.Get(k)
		if damaged[k] {
			require.ErrorIs(t, err, spool.ErrCorrupt)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, kept[k], string(payload))
		named[k] = true
	}
	bad, err := s.Bad(run, 1)
	require.NoError(t, err)
	for _, chunk := range bad {
		require.True(t, chunk.IsDamaged)
		require.True(t, damaged[chunk.Key])
		named[chunk.Key] = true
	}
	for k := range kept {
		require.True(t, k.RunID != run || named[k], "%+v is lost", k)
	}
	return named
}

func TestTheOldestGoesFirstAndOnlyPastTheOwnersLimits(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	now := time.Now()
	for i, run := range []string{"oldest", "middle", "newest"} {
		k := key
		k.RunID = run
		require.NoError(t, s.Put(k, make([]byte, 88))) // 100 with its head
		written := now.Add(time.Duration(i-3) * 24 * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(dir, run, "1", "1-sender-0.dlc"), written, written))
	}
	s = open(t, dir)
	const day = 24 * time.Hour
	for _, example := range []struct {
		hold spool.Hold
		want []spool.Overdue
	}{
		{spool.Hold{}, nil},
		{spool.Hold{For: 4 * day, MaxBytes: 300}, nil},
		{spool.Hold{MaxBytes: 299}, []spool.Overdue{{"oldest", 1, false}}},
		{spool.Hold{MaxBytes: 150}, []spool.Overdue{{"oldest", 1, false}, {"middle", 1, false}}},
		{spool.Hold{For: 60 * time.Hour}, []spool.Overdue{{"oldest", 1, true}}},
		{spool.Hold{For: 60 * time.Hour, MaxBytes: 150}, []spool.Overdue{{"oldest", 1, true}, {"middle", 1, false}}},
	} {
		require.Equal(t, example.want, s.Overdue(example.hold, now), "%+v", example.hold)
	}
	require.Len(t, s.Held(), 3, "nothing was removed by asking")
}

func TestAFileFromBeforeItsHostKnewTheTimeIsNotYearsOld(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, open(t, dir).Put(key, []byte("x")))
	require.NoError(t, os.Chtimes(chunkPath(dir), time.Unix(0, 0), time.Unix(0, 0)))
	require.Empty(t, open(t, dir).Overdue(spool.Hold{For: time.Hour}, time.Now()))
}

func requireHolds(t *rapid.T, s *spool.Spool, kept map[spool.Key]string) {
	total := 0
	for _, attempt := range s.Held() {
		keys := s.Keys(attempt.RunID, attempt.Attempt)
		require.Len(t, keys, attempt.Chunks)
		for _, k := range keys {
			payload, err := s.Get(k)
			require.NoError(t, err)
			require.Equal(t, kept[k], string(payload))
			total++
		}
	}
	require.Len(t, kept, total)
}

func TestWhatIsHeldIsKnownWithoutLookingAtTheDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	s, err := spool.Open(dir, 100)
	require.NoError(t, err)
	require.NoError(t, s.Put(key, make([]byte, 60)))
	require.NoError(t, os.Rename(dir, dir+"-gone"))
	require.Len(t, s.Held(), 1)
	require.Equal(t, []spool.Key{key}, s.Keys(key.RunID, key.Attempt))
	require.ErrorIs(t, s.Put(key, make([]byte, 60)), spool.ErrFull)
}

func TestTheCapCountsWhatIsSetAsideAndWhatAnEarlierProcessLeft(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, open(t, dir).Put(key, make([]byte, 60)))
	require.NoError(t, open(t, dir).Quarantine(key))
	s, err := spool.Open(dir, 100)
	require.NoError(t, err)
	require.ErrorIs(t, s.Put(key, make([]byte, 60)), spool.ErrFull)
	require.NoError(t, s.Discard(key.RunID, key.Attempt))
	require.NoError(t, s.Put(key, make([]byte, 60)), "what was discarded leaves room")
}

func TestChunksThatWereSetAsideStayOnDiskAndAreNotOffered(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	require.NoError(t, s.Put(key, []byte("payload")))
	require.NoError(t, s.SetAside(key.RunID, key.Attempt))
	for _, opened := range []*spool.Spool{s, open(t, dir)} {
		require.Empty(t, opened.Held())
		require.Len(t, opened.Aside(), 1)
		payload, err := opened.Get(key)
		require.NoError(t, err)
		require.Equal(t, "payload", string(payload))
	}
	require.NoError(t, s.Return(key.RunID, key.Attempt))
	require.Len(t, s.Held(), 1)
	require.Len(t, open(t, dir).Held(), 1)
	require.NoError(t, s.SetAside(key.RunID, key.Attempt))
	require.NoError(t, s.Discard(key.RunID, key.Attempt))
	require.Empty(t, s.Aside())
	require.NoDirExists(t, filepath.Dir(filepath.Dir(chunkPath(dir))))
	require.NoError(t, s.SetAside("01890a5e", 1), "there is nothing to set aside")
	require.Empty(t, s.Aside())
}

// TestAFileThatPutDidNotNameIsNoChunk: it would be offered under a name that it does not have, again and again.
func TestAFileThatPutDidNotNameIsNoChunk(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "run", "1"), 0o700))
	for _, name := range []string{"01-sender-2.dlc", "+1-sender-2.dlc", "1-sender-02.dlc"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "run", "1", name), []byte("x"), 0o600))
	}
	opened, err := spool.Open(dir, 0)
	require.NoError(t, err)
	require.Empty(t, opened.Keys("run", 1))
}
