package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const agents = "../.."

// TestTestsOfTheQuickProofNeitherSleepNorHurry: what does carries a mark. It sees calls with constants, and functions of a test's
// own folder; not a wait inside the product, nor a limit that is a variable. `make test-busy` sees those.
func TestTestsOfTheQuickProofNeitherSleepNorHurry(t *testing.T) {
	tests, err := read(agents)
	require.NoError(t, err)
	require.Greater(t, len(tests), 500)
	waits := map[string]map[string][]string{}
	for _, test := range tests {
		if waits[test.folder] == nil {
			waits[test.folder] = inFolder(t, test.folder, waitsOf)
		}
		if test.part != "" {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(test.calls)) {
			for _, wait := range waits[test.folder][name] {
				t.Errorf("%s: %s has no mark (hosttest.Verify or hosttest.Measures)", wait, test.id())
			}
		}
	}
}

// TestTestsDrawFromFixedSeeds: a test that fails can be repeated. It does not see a seed from the clock that goes through a variable.
func TestTestsDrawFromFixedSeeds(t *testing.T) {
	for _, folder := range foldersOfTests(t) {
		for _, draws := range inFolder(t, folder, drawsOf) {
			for _, draw := range draws {
				t.Error(draw)
			}
		}
	}
}

// TestPackagesWithoutTheRaceDetectorStartNoGoroutine: the Makefile names them.
func TestPackagesWithoutTheRaceDetectorStartNoGoroutine(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(agents, "Makefile"))
	require.NoError(t, err)
	names := regexp.MustCompile(`(?m)^ALONE := (.+)$`).FindSubmatch(makefile)
	require.NotNil(t, names)
	for name := range strings.FieldsSeq(string(names[1])) {
		files, err := filepath.Glob(filepath.Join(agents, "internal", name, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, name)
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(parsed, func(node ast.Node) bool {
				_, isGo := node.(*ast.GoStmt)
				require.False(t, isGo, "%s starts a goroutine: take %s out of ALONE in the Makefile", file, name)
				return true
			})
		}
	}
}

func TestASampleIsRepeatedByItsSeed(t *testing.T) {
	tests := []marked{{folder: "a", name: "TestA", part: "kernel"}, {folder: "a", name: "TestB", part: "faults", measures: true},
		{folder: "a", name: "TestC"}}
	seen := map[string]int{}
	for seed := range uint64(50) {
		drawn := choose(tests, "sample", seed)
		require.Equal(t, drawn, choose(tests, "sample", seed))
		for _, test := range drawn {
			seen[test.name]++
		}
	}
	require.Len(t, seen, 1, "what measures and what is not marked are never drawn")
	require.Positive(t, seen["TestA"])
}
