// Proof runs a part of the long proof, or a draw of it, by `go test`: it knows which tests are marked by hosttest.Verify.
//
//	go run ./tools/proof [-seed N] [-list] kernel|faults|sample [flags of go test]
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// sampled: one of so many tests is in the sample, as in backend/tests/fixtures/proofs.py.
const sampled = 5

func main() {
	seed := flag.Uint64("seed", 1, "draws the sample")
	isList := flag.Bool("list", false, "print the tests instead of running them")
	flag.Parse()
	if flag.NArg() == 0 || !slices.Contains([]string{"kernel", "faults", "sample"}, flag.Arg(0)) {
		fmt.Fprintln(os.Stderr, "name a part: kernel, faults or sample")
		os.Exit(2)
	}
	tests, err := read(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	chosen := choose(tests, flag.Arg(0), *seed)
	if *isList {
		for _, test := range chosen {
			fmt.Println(test.id())
		}
		return
	}
	os.Exit(run(chosen, flag.Args()[1:]))
}

func (m marked) id() string { return filepath.Base(m.folder) + "/" + m.name }

func choose(tests []marked, part string, seed uint64) (chosen []marked) {
	for _, test := range tests {
		if part == "sample" && test.part != "" && !test.measures && isDrawn(test.id(), seed) || test.part == part {
			chosen = append(chosen, test)
		}
	}
	return chosen
}

func isDrawn(id string, seed uint64) bool {
	digest := sha256.Sum256(fmt.Appendf(nil, "%d:%s", seed, id))
	return binary.BigEndian.Uint64(digest[:8])%sampled == 0
}

// run has `go test` run these tests, one package after the other: they measure real time and share the kernel.
func run(tests []marked, flags []string) int {
	var names, folders []string
	for _, test := range tests {
		names, folders = append(names, test.name), append(folders, "./"+test.folder)
	}
	if len(names) == 0 {
		return 0
	}
	arguments := append([]string{"test", "-p", "1", "-count", "1", "-timeout", "30m", "-run", "^(" + strings.Join(names, "|") + ")$"},
		flags...)
	command := exec.Command("go", append(arguments, slices.Compact(folders)...)...) //nolint:gosec // the flags are the caller's
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	err := command.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}
