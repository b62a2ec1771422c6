package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

type result int

const (
	killed result = iota
	survived
	unbuildable
)

// nobody runs the changed code when this process is root: a wrong program must not be able to change the host.
const nobody = 65534

// testTimeout is far longer than the tests take: a change may make a loop endless.
const testTimeout = "60s"

// try builds the package's tests with the change and runs them.
func try(m mutant) (result, error) {
	folder, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return 0, fmt.Errorf("make a folder for a change: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := os.Chmod(folder, 0o755); err != nil {
		return 0, fmt.Errorf("open the folder to others: %w", err)
	}
	overlay, err := writeOverlay(folder, m)
	if err != nil {
		return 0, err
	}
	binary := filepath.Join(folder, "test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, "./"+filepath.Dir(m.file))
	if output, err := build.CombinedOutput(); err != nil {
		if _, isExit := errors.AsType[*exec.ExitError](err); isExit {
			return unbuildable, nil
		}
		return 0, fmt.Errorf("build %v: %w: %s", m, err, output)
	}
	return runTests(binary, filepath.Dir(m.file), folder), nil
}

// requirePasses runs the tests of unchanged code: when they fail, nothing can be learned from a change.
func requirePasses(folder string, changes []mutant) error {
	if len(changes) == 0 {
		return fmt.Errorf("there is nothing to change in %s", folder)
	}
	switch result, err := try(mutant{file: changes[0].file, text: changes[0].text}); {
	case err != nil:
		return err
	case result != survived:
		return fmt.Errorf("the tests of %s fail, or cannot be built, without any change", folder)
	}
	return nil
}

func writeOverlay(folder string, m mutant) (string, error) {
	original, err := filepath.Abs(m.file)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", m.file, err)
	}
	changed, list := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(changed, m.apply(), 0o644); err != nil {
		return "", fmt.Errorf("write the change: %w", err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", fmt.Errorf("write the overlay: %w", err)
	}
	return list, os.WriteFile(list, overlay, 0o644)
}

func runTests(binary, folder, temporary string) result {
	command := exec.Command(binary, "-test.timeout", testTimeout, "-test.failfast")
	command.Dir = folder
	command.Env = append(os.Environ(), "TMPDIR="+temporary, "HOME="+temporary)
	if os.Geteuid() == 0 {
		_ = os.Chmod(temporary, 0o777)
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	if command.Run() != nil {
		return killed
	}
	return survived
}
