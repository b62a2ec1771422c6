package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// longest is what a test of the quick proof may sleep.
	longest = 200 * time.Millisecond
	// generous is from when on a limit is one that a busy machine keeps.
	generous = 30 * time.Second
)

// limited are calls that wait for something at most so long, with the place of that argument.
var limited = map[string]int{"After": 0, "Tick": 0, "NewTimer": 0, "WithTimeout": 1, "Eventually": 2}

// source is a parsed test file; constants are those of its folder, by their names.
type source struct {
	positions *token.FileSet
	file      *ast.File
	constants map[string]ast.Expr
}

func (s source) at(node ast.Node, format string, values ...any) string {
	return fmt.Sprintf("%s: ", s.positions.Position(node.Pos())) + fmt.Sprintf(format, values...)
}

func foldersOfTests(t *testing.T) (folders []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(agents, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, path)
		}
		return err
	}))
	return folders
}

// inFolder is what a search finds in each function of a folder's test files.
func inFolder(t *testing.T, folder string, search func(s source, node ast.Node) []string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	require.NoError(t, err)
	constants, sources := map[string]ast.Expr{}, []source{}
	for _, file := range files {
		s := source{positions: token.NewFileSet(), constants: constants}
		s.file, err = parser.ParseFile(s.positions, file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		noteConstants(s)
		sources = append(sources, s)
	}
	found := map[string][]string{}
	for _, s := range sources {
		for _, declared := range s.file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Body != nil {
				found[nameOf(f)] = append(found[nameOf(f)], search(s, f.Body)...)
			}
		}
	}
	return found
}

func noteConstants(s source) {
	ast.Inspect(s.file, func(node ast.Node) bool {
		if declared, ok := node.(*ast.ValueSpec); ok && len(declared.Names) == len(declared.Values) {
			for i, name := range declared.Names {
				s.constants[name.Name] = declared.Values[i]
			}
		}
		return true
	})
}

// waitsOf finds sleeps that are long, or of unknown length, and limits that a busy machine misses. Virtual time is left out.
func waitsOf(s source, body ast.Node) (found []string) {
	ast.Inspect(body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		if isOf(call.Fun, "synctest", "Test") {
			return false
		}
		if isOf(call.Fun, "time", "Sleep") {
			if lasts, isKnown := s.duration(call.Args[0]); !isKnown || lasts > longest {
				found = append(found, s.at(call, "a sleep that may last for more than %s", longest))
			}
		}
		if at, ok := limited[lastName(call.Fun)]; ok && at < len(call.Args) {
			if lasts, isKnown := s.duration(call.Args[at]); isKnown && lasts > longest && lasts < generous {
				found = append(found, s.at(call, "a limit of %s that a busy machine may miss", lasts))
			}
		}
		return true
	})
	return found
}

// drawsOf finds numbers that are drawn from the clock, or from a source that is seeded by it.
func drawsOf(s source, body ast.Node) (found []string) {
	ast.Inspect(body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		of, isSelector := ast.Expr(nil), false
		if ok {
			of, isSelector = qualifier(call.Fun)
		}
		if name, isName := of.(*ast.Ident); !isSelector || !isName || name.Name != "rand" || s.importsOf("rand") == "crypto/rand" {
			return true
		}
		if !strings.HasPrefix(lastName(call.Fun), "New") {
			found = append(found, s.at(call, "a number that cannot be drawn again: use a source with a fixed seed"))
		}
		ast.Inspect(call, func(inner ast.Node) bool {
			if inner, ok := inner.(*ast.CallExpr); ok && isOf(inner.Fun, "time", "Now") {
				found = append(found, s.at(inner, "a seed from the clock"))
			}
			return true
		})
		return false
	})
	return found
}

// importsOf is the path that a package's name stands for.
func (s source) importsOf(name string) string {
	for _, imported := range s.file.Imports {
		path, _ := strconv.Unquote(imported.Path.Value)
		if strings.TrimSuffix(path, "/v2") == name || strings.HasSuffix(strings.TrimSuffix(path, "/v2"), "/"+name) {
			return path
		}
	}
	return ""
}

var units = map[string]time.Duration{
	"Nanosecond": time.Nanosecond, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond,
	"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
}

// duration is that of a constant: a number, a unit, a constant of the folder, or a product of them.
func (s source) duration(expression ast.Expr) (time.Duration, bool) {
	value, isKnown := s.value(expression, 0)
	return time.Duration(value), isKnown
}

func (s source) value(expression ast.Expr, depth int) (float64, bool) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		value, err := strconv.ParseFloat(strings.ReplaceAll(e.Value, "_", ""), 64)
		return value, err == nil
	case *ast.Ident:
		constant, ok := s.constants[e.Name]
		if !ok || depth > 5 {
			return 0, false
		}
		return s.value(constant, depth+1)
	case *ast.SelectorExpr:
		unit, ok := units[e.Sel.Name]
		return float64(unit), ok && isOf(e, "time", e.Sel.Name)
	case *ast.ParenExpr:
		return s.value(e.X, depth)
	case *ast.BinaryExpr:
		a, isA := s.value(e.X, depth)
		b, isB := s.value(e.Y, depth)
		if e.Op == token.MUL {
			return a * b, isA && isB
		}
		return a / b, isA && isB && e.Op == token.QUO && b != 0
	}
	return 0, false
}

func qualifier(expression ast.Expr) (ast.Expr, bool) {
	if of, ok := expression.(*ast.SelectorExpr); ok {
		return of.X, true
	}
	return nil, false
}

func isOf(expression ast.Expr, of, name string) bool {
	x, isSelector := qualifier(expression)
	if !isSelector {
		return false
	}
	ident, ok := x.(*ast.Ident)
	return ok && ident.Name == of && lastName(expression) == name
}

func lastName(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}
