// Package diskfile writes small files so that a crash leaves either the old or the new content, never a part.
package diskfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// IsFull tells whether an error means that there was no room, on the disk or for this user.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// Write replaces a file's content: temporary name, sync, rename, sync of the folder.
func Write(path string, content []byte, mode fs.FileMode) (err error) {
	temporary := path + ".tmp"
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary)
		}
	}()
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err = os.Rename(temporary, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Remove deletes a file, which stays deleted after a crash; one that is gone already is no error.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// MakeDirs makes every missing folder below root, which must exist, and makes each name durable in its parent.
func MakeDirs(root, dir string) error {
	if dir == root {
		return nil
	}
	if parent := filepath.Dir(dir); len(parent) >= len(root) {
		if err := MakeDirs(root, parent); err != nil {
			return err
		}
	}
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(dir))
}

// SyncDir makes the names in a folder durable.
func SyncDir(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return errors.Join(folder.Sync(), folder.Close())
}
