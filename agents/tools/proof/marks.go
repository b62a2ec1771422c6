package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// marked is a test, and the part of the long proof that it belongs to; none for one of the quick proof.
type marked struct {
	folder, name, part string
	measures           bool
	calls              map[string]bool
}

// function is what is known of one in a folder's test files: what it calls, by the last name alone, and its own mark.
type function struct {
	calls    map[string]bool
	part     string
	measures bool
}

// needRoot are the functions of hosttest that leave a test to the long proof because only root can run it.
var needRoot = []string{"NeedRoot", "NewNamespace", "OnSmallDisk", "OnStallingDisk", "HoldControls"}

// read returns the tests below a folder, sorted by folder and name. A call is followed by its name through the test files of a
// folder: good enough to find a mark, for which hosttest's functions have names of their own.
func read(root string) ([]marked, error) {
	var found []marked
	err := filepath.WalkDir(root, func(folder string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || entry.Name() == "testdata" {
			return err
		}
		tests, err := readFolder(folder)
		found = append(found, tests...)
		return err
	})
	return found, err
}

func readFolder(folder string) ([]marked, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return nil, err
	}
	functions := map[string]*function{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, declared := range parsed.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Body != nil {
				functions[nameOf(f)] = look(f)
			}
		}
	}
	var tests []marked
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		if strings.HasPrefix(name, "Test") && name != "TestMain" {
			tests = append(tests, follow(folder, name, functions))
		}
	}
	return tests, nil
}

// nameOf is a function's name; a method's, and that of a function of another package, begins with a dot.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv != nil {
		return "." + f.Name.Name
	}
	return f.Name.Name
}

func look(f *ast.FuncDecl) *function {
	seen := &function{calls: map[string]bool{}}
	var visit func(node ast.Node) bool
	visit = func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			seen.calls["."+node.Sel.Name] = true
			ast.Inspect(node.X, visit)
			return false
		case *ast.Ident: // a function may be handed on without being called here
			seen.calls[node.Name] = true
		case *ast.CallExpr:
			seen.mark(node)
		}
		return true
	}
	ast.Inspect(f.Body, visit)
	return seen
}

// mark takes the part from a call of hosttest.Verify or hosttest.Measures.
func (f *function) mark(call *ast.CallExpr) {
	of, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) != 3 || of.Sel.Name != "Verify" && of.Sel.Name != "Measures" {
		return
	}
	if part, ok := call.Args[1].(*ast.SelectorExpr); ok {
		f.part, f.measures = strings.ToLower(part.Sel.Name), of.Sel.Name == "Measures"
	}
}

// follow collects what a test calls, directly or not. Its own mark counts before one of a function that it calls, and that
// before the need for root.
func follow(folder, name string, functions map[string]*function) marked {
	test := marked{folder: folder, name: name, calls: map[string]bool{}}
	waiting := []string{name}
	for len(waiting) > 0 {
		each := waiting[0]
		waiting = waiting[1:]
		if test.calls[each] {
			continue
		}
		test.calls[each] = true
		f := functions[each]
		if f == nil {
			continue
		}
		if f.part != "" && test.part == "" {
			test.part, test.measures = f.part, f.measures
		}
		waiting = append(waiting, slices.Sorted(maps.Keys(f.calls))...)
	}
	if test.part == "" && slices.ContainsFunc(needRoot, func(each string) bool { return test.calls["."+each] }) {
		test.part = "kernel"
	}
	return test
}
