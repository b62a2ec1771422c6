// Command mutants changes one token of the code at a time and runs the package's tests, which should notice.
// A sample is drawn by a seed, so that two runs judge the same changes. It never touches the source tree.
package main

import (
	"bufio"
	_ "embed"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
)

// leastKilledRatio is the share of changes that tests have to notice; see docs/testing.md.
const leastKilledRatio = 0.85

// equivalentText lists changes that no test can notice: file, line of code, old token, new token, reason, in columns
// parted by tabs.
//
//go:embed equivalent.tsv
var equivalentText string

func main() {
	count := flag.Int("n", 100, "how many changes to try")
	seed := flag.Uint64("seed", 1, "seed of the sample")
	only := flag.String("only", "", "only changes in files whose path contains this")
	flag.Parse()
	if err := run(flag.Args(), *count, *seed, *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folders []string, count int, seed uint64, only string) error {
	var all []mutant
	for _, folder := range folders {
		found, err := mutantsOf(folder)
		if err == nil {
			err = requirePasses(folder, found)
		}
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	all = keep(all, func(m mutant) bool { return strings.Contains(m.file, only) && !isEquivalent(m) })
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	fmt.Printf("%d changes are possible; trying %d with seed %d.\n", len(all), min(count, len(all)), seed)
	return judge(all, count)
}

func keep(all []mutant, wanted func(mutant) bool) (kept []mutant) {
	for _, m := range all {
		if wanted(m) {
			kept = append(kept, m)
		}
	}
	return kept
}

func isEquivalent(m mutant) bool {
	lines := bufio.NewScanner(strings.NewReader(equivalentText))
	for lines.Scan() {
		columns := strings.Split(lines.Text(), "\t")
		if len(columns) == 5 && strings.HasSuffix(m.file, columns[0]) && m.code == columns[1] && m.from == columns[2] && m.to == columns[3] {
			return true
		}
	}
	return false
}

// sample is what there is to try and the result so far.
type sample struct {
	lock             sync.Mutex
	left             []mutant
	wanted           int
	tried, survivors int
	failed           error
}

// judge tries changes in order until enough of them could be built.
func judge(all []mutant, count int) error {
	s := &sample{left: all, wanted: count}
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for m, ok := s.next(); ok; m, ok = s.next() {
				result, err := try(m)
				s.note(m, result, err)
			}
		})
	}
	workers.Wait()
	return s.verdict()
}

func (s *sample) next() (m mutant, ok bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if len(s.left) == 0 || s.tried >= s.wanted || s.failed != nil {
		return m, false
	}
	m, s.left = s.left[0], s.left[1:]
	s.tried++
	return m, true
}

func (s *sample) note(m mutant, result result, err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	switch {
	case err != nil:
		s.failed = err
	case result == unbuildable:
		s.tried--
	case result == survived:
		s.survivors++
		fmt.Println("survived:", m)
	}
}

func (s *sample) verdict() error {
	if s.failed != nil {
		return s.failed
	}
	ratio := 1 - float64(s.survivors)/float64(max(s.tried, 1))
	fmt.Printf("%d of %d changes were noticed (%.0f %%).\n", s.tried-s.survivors, s.tried, 100*ratio)
	if ratio < leastKilledRatio {
		return fmt.Errorf("tests notice %.0f %% of the changes; at least %.0f %% are asked for", 100*ratio, 100*leastKilledRatio)
	}
	return nil
}
