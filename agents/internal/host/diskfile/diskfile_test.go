package diskfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/host/diskfile"
)

func TestAWriteReplacesTheWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, diskfile.Write(path, []byte("a long content"), 0o600))
	require.NoError(t, diskfile.Write(path, []byte("short"), 0o600))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "short", string(content))
	require.NoFileExists(t, path+".tmp")
}

func TestAFailedWriteLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	require.NoError(t, os.MkdirAll(filepath.Join(path, "not empty"), 0o700))
	require.Error(t, diskfile.Write(path, []byte("x"), 0o600), "a folder cannot be replaced by a file")
	require.DirExists(t, path)
	require.NoFileExists(t, path+".tmp")
}

func TestRemovingTwiceIsRemovingOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, diskfile.Write(path, nil, 0o600))
	require.NoError(t, diskfile.Remove(path))
	require.NoError(t, diskfile.Remove(path))
}

func TestFoldersAreMadeBelowTheRootOnly(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, diskfile.MakeDirs(root, filepath.Join(root, "a", "b")))
	require.DirExists(t, filepath.Join(root, "a", "b"))
	require.NoError(t, diskfile.MakeDirs(root, filepath.Join(root, "a", "b")))
	require.Error(t, diskfile.MakeDirs(filepath.Join(root, "missing"), filepath.Join(root, "missing", "x")))
}
