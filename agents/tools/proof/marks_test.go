package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const agents = "../.."

// TestWhatSleepsIsMarked: a test of the quick proof waits for conditions, or in virtual time. Seen are calls of time.Sleep of a
// quarter of a second or more; not seen are deadlines that a busy machine misses, which `make test-busy` finds.
func TestWhatSleepsIsMarked(t *testing.T) {
	tests, err := read(agents)
	require.NoError(t, err)
	require.NotEmpty(t, tests)
	for _, test := range tests {
		if test.part != "" || test.calls["synctest"] {
			continue
		}
		for _, slept := range sleepsOf(t, test) {
			require.NotRegexp(t, long, slept, "%s sleeps: use testing/synctest or a condition, or mark it by hosttest.Verify", test.id())
		}
	}
}

var long = regexp.MustCompile(`^time\.Sleep\(([\d.]+\*)?time\.(Second|Minute|Hour)\)|^time\.Sleep\((2[5-9]\d|[3-9]\d\d|\d{4,})\*time\.Millisecond`)

// sleepsOf returns what the test's own function hands to time.Sleep, without spaces.
func sleepsOf(t *testing.T, test marked) (slept []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(test.folder, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(node ast.Node) bool {
			f, ok := node.(*ast.FuncDecl)
			if ok && f.Name.Name != test.name {
				return false
			}
			if call, ok := node.(*ast.CallExpr); ok && len(call.Args) == 1 {
				text := string(source[set.Position(call.Pos()).Offset:set.Position(call.End()).Offset])
				if strings.HasPrefix(text, "time.Sleep(") {
					slept = append(slept, strings.ReplaceAll(text, " ", ""))
				}
			}
			return true
		})
	}
	return slept
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
	tests := []marked{{folder: "a", name: "TestA", part: "kernel"}, {folder: "a", name: "TestB", part: "faults", measures: true}, {folder: "a", name: "TestC"}}
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
