package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one token of one file replaced by another.
type mutant struct {
	file     string
	text     []byte // of the file, as it was when the change was found
	offset   int
	line     int
	code     string // the whole line, trimmed
	from, to string
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %q instead of %q in: %s", m.file, m.line, m.to, m.from, m.code)
}

// swaps are the changes of operators and words. Boundaries move by one, conditions and directions turn round.
var swaps = map[string]string{
	"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "!": "",
	"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "+=": "-=", "-=": "+=", "++": "--", "--": "++", "<<": ">>", ">>": "<<",
	"true": "false", "false": "true", "min": "max", "max": "min", "break": "continue", "continue": "break",
}

// mutantsOf lists what can be changed in the Go files of a folder. Tests are left alone, and so are the files that speak to
// the kernel (_linux.go): what is wrong there must not reach this host.
func mutantsOf(folder string) (found []mutant, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "_linux.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found = append(found, mutantsIn(file, text)...)
	}
	return found, nil
}

func mutantsIn(file string, text []byte) (found []mutant) {
	files := token.NewFileSet()
	source := files.AddFile(file, -1, len(text))
	lines := strings.Split(string(text), "\n")
	var s scanner.Scanner
	s.Init(source, text, nil, 0)
	for {
		at, kind, literal := s.Scan()
		if kind == token.EOF {
			return found
		}
		from := literal
		if kind.IsOperator() {
			from = kind.String()
		}
		if to, ok := changed(kind, from); ok {
			line := source.Line(at)
			found = append(found, mutant{
				file: file, text: text, offset: source.Offset(at), line: line, code: strings.TrimSpace(lines[line-1]), from: from, to: to,
			})
		}
	}
}

// changed is what a token becomes: numbers grow by one.
func changed(kind token.Token, text string) (string, bool) {
	if kind == token.INT || kind == token.FLOAT {
		return "(" + text + "+1)", true
	}
	if kind == token.STRING || kind == token.CHAR {
		return "", false
	}
	to, ok := swaps[text]
	return to, ok
}

func (m mutant) apply() []byte {
	return slices.Concat(m.text[:m.offset], []byte(m.to), m.text[m.offset+len(m.from):])
}
