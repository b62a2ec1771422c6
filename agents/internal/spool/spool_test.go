package spool_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"downlink/agents/internal/spool"
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
				Flow: 1, Point: rapid.SampledFrom([]string{"sender", "receiver", "link", "hop-3", "hop-12"}).Draw(t, "point"), Sequence: rapid.IntRange(0, 12).Draw(t, "sequence"),
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
