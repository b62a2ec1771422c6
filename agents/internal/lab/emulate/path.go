package emulate

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"downlink/agents/internal/lab/pathtrace"
)

// defaultPathQueueBytes is a thousand packets of the largest size.
const defaultPathQueueBytes = 1_500_000

// Path is a way through satellites that a path trace describes (docs/paths.md). In YAML it may be the file's name alone.
type Path struct {
	File string `yaml:"file"`
	// From and To are the stations at the gateway's and at the receiver's side; empty: the trace's first and last.
	From  string    `yaml:"from"`
	To    string    `yaml:"to"`
	Queue PathQueue `yaml:"queue"` // of every hop
	// LossRatio is that of every hop at all times, instead of the trace's.
	LossRatio *float64 `yaml:"loss_ratio"`

	plan *plan // what the file holds
}

// PathQueue is before each hop of a path, in each direction.
type PathQueue struct {
	LimitBytes int `yaml:"limit_bytes"`
}

var pathKeys = []string{"file", "from", "to", "queue", "loss_ratio"}

// UnmarshalYAML takes a file's name for a path with all defaults.
func (p *Path) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		p.File = node.Value
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 { // a decoder of one node forgets to be strict
		if key := node.Content[i]; !slices.Contains(pathKeys, key.Value) {
			return fmt.Errorf("line %d: field %s not found in path", key.Line, key.Value)
		}
	}
	type plain Path
	return node.Decode((*plain)(p))
}

// load reads the trace: a file of the folder or below, one with an absolute path, or by its name alone one that
// `downlink paths make` keeps.
func (p *Path) load(folder fs.FS) (err error) {
	if p.Queue.LimitBytes == 0 {
		p.Queue.LimitBytes = defaultPathQueueBytes
	}
	file, err := p.open(folder)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	trace, err := pathtrace.Read(file)
	if err != nil {
		return fmt.Errorf("path trace %s: %w", p.File, err)
	}
	if p.LossRatio != nil {
		setLoss(trace, *p.LossRatio)
	}
	p.plan = newPlan(trace)
	return p.turn()
}

// setLoss gives every hop the same loss at all times.
func setLoss(trace *pathtrace.Trace, ratio float64) {
	for _, path := range trace.Paths {
		for _, hop := range path.Hops {
			for i := range hop.Knots {
				hop.Knots[i].LossRatio = ratio
			}
		}
	}
}

// turn lets the trace lead from and to the profile's stations.
func (p *Path) turn() error {
	stations := p.plan.trace.Stations
	first, last := stations[0].Name, stations[len(stations)-1].Name
	isFit := func(from, to string) bool { return (p.From == "" || p.From == from) && (p.To == "" || p.To == to) }
	switch {
	case isFit(first, last):
	case isFit(last, first):
		p.plan.isTurned = true
	default:
		return fmt.Errorf("path trace %s joins %s and %s, and not the profile's stations %s: name those, or another file",
			p.File, first, last, strings.Trim(p.From+" and "+p.To, " "))
	}
	return nil
}

func (p Path) check(q problems) {
	q.require(p.Queue.LimitBytes >= 1500, "queue.limit_bytes", "at least 1500, one packet", p.Queue.LimitBytes)
	if ratio := p.LossRatio; ratio != nil {
		q.require(*ratio >= 0 && *ratio <= 1, "loss_ratio", "from 0 to 1", *ratio)
	}
}

// Stretch is the part of a path trace that a course flies.
type Stretch struct {
	Path, SHA256 string
	At, Lasts    time.Duration
}

// Window is one of several equal shares of a path trace. All that is compared flies the same one.
type Window struct {
	Number, Of int           // from 0
	Lasts      time.Duration // that a course may need at most
}

// ErrTooShort means that a course is longer than the path trace.
var ErrTooShort = errors.New("the run is longer than the path trace")

// in says which part of the trace the window is: the windows begin at even distances, and the last one ends with the trace
// at the latest.
func (w Window) in(trace *pathtrace.Trace) (Stretch, error) {
	if w.Of < 1 || w.Number < 0 || w.Number >= w.Of || w.Lasts < 0 {
		return Stretch{}, fmt.Errorf("window %d of %d is none", w.Number, w.Of)
	}
	room := trace.Duration - w.Lasts
	if room < 0 {
		return Stretch{}, fmt.Errorf("%w %s: it may take %s, and the trace has %s. Make a longer path, or a shorter run",
			ErrTooShort, trace.Name, w.Lasts, trace.Duration)
	}
	begin := time.Duration(float64(room) / float64(w.Of) * float64(w.Number)).Truncate(time.Millisecond)
	return Stretch{trace.Name, trace.SHA256, begin, w.Lasts}, nil
}

// Begin is where in its course a link is when a run begins: at the window's beginning on a path trace, else at its Phase.
// stretch is nil where the profile has no path.
func Begin(profile Profile, seed uint64, window *Window) (phase time.Duration, stretch *Stretch, err error) {
	phase = Phase(profile, seed)
	path := profile.path()
	if path == nil {
		return phase, nil, nil
	}
	found := Stretch{Path: path.plan.trace.Name, SHA256: path.plan.trace.SHA256, At: phase}
	if window != nil {
		if found, err = window.in(path.plan.trace); err != nil {
			return 0, nil, err
		}
	}
	return found.At, &found, nil
}

// plan is a trace with what is known of all of it.
type plan struct {
	trace    *pathtrace.Trace
	isTurned bool            // the gateway is at the last station
	gaps     []time.Duration // in which a hop carries nothing, before each path and after the last
	outages  []time.Duration // without a path, likewise
	least    time.Duration   // no packet is faster
	leastSum time.Duration   // of a whole path
	peakBps  float64
}

func newPlan(trace *pathtrace.Trace) *plan {
	p := &plan{trace: trace, gaps: make([]time.Duration, 1), outages: make([]time.Duration, 1), least: Never, leastSum: Never}
	first, last := Never, Never
	for i, path := range trace.Paths {
		gap, outage := longestGap(path), time.Duration(0)
		if len(path.Hops) == 0 {
			outage = path.End - path.Start
		}
		p.gaps, p.outages = append(p.gaps, p.gaps[i]+gap), append(p.outages, p.outages[i]+outage)
		if len(path.Hops) == 0 {
			continue
		}
		sum, narrowest := time.Duration(0), math.Inf(1)
		for _, hop := range path.Hops {
			sum += hop.Least()
			narrowest = min(narrowest, fastest(hop))
		}
		first, last = min(first, path.Hops[0].Least()), min(last, path.Hops[len(path.Hops)-1].Least())
		p.leastSum, p.peakBps = min(p.leastSum, sum), max(p.peakBps, narrowest)
	}
	if p.least = 0; first != Never { // a packet may change paths on its way: both ends are all that is sure
		p.least = first + last
	}
	return p
}

func longestGap(path pathtrace.Path) (longest time.Duration) {
	for _, hop := range path.Hops {
		longest = max(longest, hop.Gap)
	}
	return min(longest, path.End-path.Start)
}

func fastest(hop pathtrace.Hop) (bps float64) {
	for _, knot := range hop.Knots[:len(hop.Knots)-1] {
		bps = max(bps, knot.Bps)
	}
	return bps
}

const pathEnding = ".dlpath"

// loadPath makes a profile of a path trace and nothing else.
func loadPath(file string) (Profile, error) {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return Profile{}, fmt.Errorf("find path trace %s: %w", file, err)
	}
	profile := Profile{Name: "path", Orbit: "LEO", Seed: 1, Path: &Path{File: absolute}}
	if err := profile.Path.load(nil); err != nil {
		return Profile{}, err
	}
	trace := profile.Path.plan.trace
	profile.Name = strings.TrimRight(trace.Name[:min(len(trace.Name), 40)], "-")
	profile.Description = fmt.Sprintf("%s: %s to %s", trace.Name, trace.Stations[0].Name, trace.Stations[len(trace.Stations)-1].Name)
	profile.Facts.Source = "the path trace"
	profile = profile.withFacts()
	return profile, profile.validate()
}

// PathSummary is what a path trace holds.
type PathSummary struct {
	Name, SHA256       string
	Stations           []string
	Lasts              time.Duration
	Changes            int
	FewestHops         int
	MostHops           int
	WithoutPath, InGap time.Duration
	LeastRtt           time.Duration
	PeakBps            float64
	LossRatio          *float64 // that the profile gives every hop; nil: the trace's own
}

// PathSummary says what the profile's path trace holds; isThere is false without one.
func (profile Profile) PathSummary() (s PathSummary, isThere bool) {
	path := profile.path()
	if path == nil {
		return s, false
	}
	plan := path.plan
	last := len(plan.trace.Paths)
	s = PathSummary{
		Name: plan.trace.Name, SHA256: plan.trace.SHA256, Lasts: plan.trace.Duration, Changes: last - 1, WithoutPath: plan.outages[last],
		InGap: plan.gaps[last], LeastRtt: 2 * plan.leastSum, PeakBps: plan.peakBps, LossRatio: path.LossRatio, FewestHops: math.MaxInt,
	}
	for _, station := range plan.trace.Stations {
		s.Stations = append(s.Stations, station.Name)
	}
	for _, each := range plan.trace.Paths {
		if len(each.Hops) > 0 {
			s.FewestHops, s.MostHops = min(s.FewestHops, len(each.Hops)), max(s.MostHops, len(each.Hops))
		}
	}
	return s, true
}
