package causes

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"downlink/agents/internal/lab/emulate"
)

// Section is a question, and a table with a line for each variant.
type Section struct {
	Name, Title, Text string
	head              []string
	variants          []variant
	runs              int // of each variant
	measure           func(v variant, runs int) []string
}

// variant is a profile in which one thing is changed. window: in bytes. isOfStudy: over the courses of the study's cycles.
type variant struct {
	name      string
	change    func(*emulate.Profile)
	window    int64
	isOfStudy bool
}

// studySeeds are the links' seeds of the studies' first five cycles, the same in all campaigns (link_seed of rows.json in
// docs/reproduction/archives).
var studySeeds = []uint64{7182081664788930, 4718869738118966, 4594081398780098, 1613402282622692, 8691042726544780}

const ofStudy = "geo-viasat, the courses of the study's five cycles"

// link is a fresh one for a run, and where in its course it is at the run's beginning.
func (v variant) link(profile emulate.Profile, run int) (emulate.Network, time.Duration) {
	if v.isOfStudy {
		seed := studySeeds[run]
		return emulate.New(profile, seed), emulate.Phase(profile, seed)
	}
	return emulate.New(profile, profile.Seed+uint64(run)), startOf(run)
}

func (v variant) runs(asked int) int {
	if v.isOfStudy {
		return min(asked, len(studySeeds))
	}
	return asked
}

const (
	mb          = 1e6
	usualWindow = 30 * mb
	// apart is how far apart runs begin on the link's clock: not a multiple of any frame or slot.
	apart = 7*time.Second + 234567*time.Microsecond
)

// Sections are all questions, in the order of the page.
func Sections() []Section {
	return []Section{buffers(), defaults(), objects(), downloads(), steady(), cubicPairs(), hystartPairs(), hyblaPairs(), leo(),
		groundSearch(), groundPairs()}
}

// Only leaves the variants whose name has a part.
func (s Section) Only(part string) Section {
	s.variants = slices.DeleteFunc(slices.Clone(s.variants), func(v variant) bool { return !strings.Contains(v.name, part) })
	return s
}

// Write prints a section as Markdown. runs: of each variant; 0: as many as the page has.
func (s Section) Write(out io.Writer, runs int) error {
	if runs == 0 {
		runs = s.runs
	}
	var text strings.Builder
	_, _ = fmt.Fprintf(&text, "\n## %s\n\n%s Runs of each variant: %d.\n\n", s.Title, s.Text, runs)
	text.WriteString(line(append([]string{"variant"}, s.head...)) + "|---|" + strings.Repeat("---:|", len(s.head)) + "\n")
	for i, cells := range s.lines(runs) {
		text.WriteString(line(append([]string{s.variants[i].name}, cells...)))
	}
	if _, err := io.WriteString(out, text.String()); err != nil {
		return fmt.Errorf("print %s: %w", s.Name, err)
	}
	return nil
}

func line(cells []string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// lines reckons as many variants at once as there are processors.
func (s Section) lines(runs int) [][]string {
	found, free := make([][]string, len(s.variants)), make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i, v := range s.variants {
		free <- struct{}{}
		all.Go(func() {
			found[i] = s.measure(v, v.runs(runs))
			<-free
		})
	}
	all.Wait()
	return found
}

// load gives a fresh profile of the repository, so that no variant sees another's change.
func (v variant) load(name string) emulate.Profile {
	profile, err := emulate.LoadProfile(name)
	if err != nil {
		panic(err) // it is part of the program
	}
	if v.change != nil {
		v.change(&profile)
	}
	return profile
}

func (v variant) windowBytes() int64 {
	if v.window == 0 {
		return usualWindow
	}
	return v.window
}

func startOf(run int) time.Duration { return time.Duration(run) * apart }

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func geometricMean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}

// spread is the mean, with the least and the greatest.
func spread(format string, values []float64) string {
	least, most := values[0], values[0]
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	return fmt.Sprintf(format+" ("+format+"-"+format+")", mean(values), least, most)
}

// median is the middle one, with the least and the greatest.
func median(format string, values []float64) string {
	sorted := slices.Sorted(slices.Values(values))
	last := len(sorted) - 1
	middle := (sorted[last/2] + sorted[(last+1)/2]) / 2
	return fmt.Sprintf(format+" ("+format+"-"+format+")", middle, sorted[0], sorted[last])
}
