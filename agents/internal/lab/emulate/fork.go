package emulate

import (
	"slices"
	"time"
)

// Branch is a further receiver of a link of several hops: its own hop from a place on the way.
type Branch struct {
	// At is the share of the way from the gateway to the receiver at which the hop begins.
	At   float64   `yaml:"at"`
	Down Direction `yaml:"down"`
	Up   Direction `yaml:"up"`
}

// Site is the number of the branch's place among n of the way, from 0 at the gateway.
func (b Branch) Site(n int) int { return min(int(b.At*float64(n)), n-1) }

// branchStream is the random stream of the first branch's way down; those of the others follow as hops' do.
const branchStream = 1 << 48

// fork is both ways of a branch, whose packets are on their way since the lines' time 0.
type fork struct {
	lines [2]*Line // down, up
	zero  time.Duration
}

func (f *fork) line(isUp bool) *Line {
	if isUp {
		return f.lines[1]
	}
	return f.lines[0]
}

func (b Branch) lines(seed uint64, number int) [2]*Line {
	first := branchStream + hopStreams*uint64(number)
	return [2]*Line{b.Down.line(seeds{seed, first}), b.Up.line(seeds{seed, first + upStreams})}
}

// Fork lets packets reach the further receivers of a link, at its sites, where a run's relays may be as well.
//
// Branches are numbered from 1. A packet from the gateway to one has its number (Packet.Branch) and stops at sites; at its own
// it takes the branch. So does what relays put in with that number, and they are given what came to them by a branch with it.
type Fork struct {
	profile Profile
	// leave is given what has come through a branch to its receiver, and what was lost on it either way.
	leave   func(branch int, isUp bool, p *Packet)
	relays  Relays // of a run; nil: none are there
	places  func(at time.Duration) ([]Place, time.Duration, bool)
	now     []fork // by branch
	past    [][]fork
	stopped []stop
	least   time.Duration // the shortest time on any branch
	spill   []*Packet
	sites   []Site // of each branch
	until   time.Duration
}

// stop is a packet at a site. cameBy is the branch that it came by; 0: it was on the way.
type stop struct {
	at     time.Duration
	site   Site
	p      *Packet
	cameBy int
}

// NewFork makes the branches of a profile.
func NewFork(profile Profile, leave func(branch int, isUp bool, p *Packet)) *Fork {
	return &Fork{profile: profile, leave: leave, past: make([][]fork, len(profile.Receivers)), sites: make([]Site, len(profile.Receivers))}
}

// Begin gives the branches a new course, whose time 0 is at a moment of the relays' clock. What is on them leaves by the old one.
func (f *Fork) Begin(seed uint64, zero time.Duration) {
	f.least = Never
	for i, old := range f.now {
		f.past[i] = append(f.past[i], old)
	}
	f.now = f.now[:0]
	for i, b := range f.profile.Receivers {
		lines := b.lines(seed, i)
		f.now = append(f.now, fork{lines, zero})
		f.least = min(f.least, lines[0].nodes[0].Least()+lines[0].ahead[0])
	}
}

// Fly says where the sites are from now on.
func (f *Fork) Fly(at time.Duration, places func(at time.Duration) ([]Place, time.Duration, bool)) {
	f.places = places
	f.follow(at)
}

// follow finds the branches' places. While there is no way they keep those that they had.
func (f *Fork) follow(at time.Duration) {
	places, until, isWhole := f.places(at)
	f.until = until
	if !isWhole || len(places) == 0 {
		return
	}
	for i, b := range f.profile.Receivers {
		f.sites[i] = places[b.Site(len(places))].Site
	}
}

// Host lets the relays of a run be at the sites, or with nil nobody.
func (f *Fork) Host(relays Relays) { f.relays = relays }

// Take is given a packet that has come to a site.
func (f *Fork) Take(at time.Duration, site Site, p *Packet) {
	if p.Branch > 0 || f.relays == nil {
		f.stopped = append(f.stopped, stop{at, site, p, 0})
		return
	}
	f.relays.Take(at, site, p)
}

// AreHosts is what the relays are: satellites are sites too.
func (f *Fork) AreHosts() bool { return false }

// Wake is when Turn has something to do.
func (f *Fork) Wake() time.Duration {
	wake := f.until
	if len(f.stopped) > 0 {
		wake = min(wake, f.stopped[0].at)
	}
	f.each(func(_ int, _ bool, line *Line, zero time.Duration) { wake = min(wake, later(line.next(), zero)) })
	if f.relays != nil {
		wake = min(wake, f.relays.Wake())
	}
	return wake
}

// Reach is when something can be at an end of the link, or at a further receiver, that is not on the link's own ways.
func (f *Fork) Reach() time.Duration {
	reach := f.until
	if len(f.stopped) > 0 {
		return f.stopped[0].at
	}
	f.each(func(_ int, _ bool, line *Line, zero time.Duration) { reach = min(reach, later(line.firstExit(), zero)) })
	if f.relays != nil {
		reach = min(reach, f.relays.Reach(), later(f.relays.Wake(), f.least))
	}
	return reach
}

// each calls a function with each line of a branch, those of earlier courses first.
func (f *Fork) each(act func(branch int, isUp bool, line *Line, zero time.Duration)) {
	for i := range f.now {
		for _, old := range f.past[i] {
			act(i+1, false, old.lines[0], old.zero)
			act(i+1, true, old.lines[1], old.zero)
		}
		act(i+1, false, f.now[i].lines[0], f.now[i].zero)
		act(i+1, true, f.now[i].lines[1], f.now[i].zero)
	}
}

// Turn lets packets take their branches, or pass, and those on branches and the relays do what is due.
func (f *Fork) Turn(at time.Duration, give func(site Site, isUp bool, p *Packet)) {
	if at >= f.until {
		f.follow(at)
	}
	f.each(func(branch int, isUp bool, line *Line, zero time.Duration) {
		for later(line.next(), zero) <= at {
			f.spill = line.happen(f.spill[:0])
			f.letOut(at, branch, isUp, f.spill)
		}
	})
	for i := 0; i < len(f.stopped); i++ {
		f.goOn(&f.stopped[i], give)
	}
	f.stopped = f.stopped[:0]
	f.forget()
	if f.relays == nil {
		return
	}
	f.relays.Turn(at, func(site Site, isUp bool, p *Packet) {
		if p.Branch == 0 {
			give(site, isUp, p)
			return
		}
		f.enter(at, p.Branch, false, p)
	})
}

// goOn lets a packet that has stopped at a site take its branch, if it is there, and otherwise pass. One that came by a branch
// is the relays', or goes to the gateway.
func (f *Fork) goOn(s *stop, give func(site Site, isUp bool, p *Packet)) {
	p := s.p
	switch {
	case s.cameBy > 0 && p.StopsAtSites && f.relays != nil:
		p.Branch = s.cameBy
		f.relays.Take(s.at, s.site, p)
	case s.cameBy > 0:
		p.Branch, p.StopsAtSites = 0, false
		give(s.site, true, p)
	case p.Branch == 0: // the relays that it was for have gone
		f.leave(0, false, p)
	case f.sites[p.Branch-1] == s.site:
		f.enter(s.at, p.Branch, false, p)
	default:
		give(s.site, false, p)
	}
}

// Enter lets a packet of a further receiver in. The circuit has been run up to this moment, and is run again then.
func (f *Fork) Enter(at time.Duration, branch int, p *Packet) { f.enter(at, branch, true, p) }

func (f *Fork) enter(at time.Duration, branch int, isUp bool, p *Packet) {
	p.Branch = 0
	now := &f.now[branch-1]
	out, _ := now.line(isUp).Step(at-now.zero, p, nil)
	f.letOut(at, branch, isUp, out)
}

// letOut has what has come through a branch, or was lost on it.
func (f *Fork) letOut(at time.Duration, branch int, isUp bool, out []*Packet) {
	for _, p := range out {
		p.LeftAt = at
		if isUp && p.Lost == NotLost {
			f.stopped = append(f.stopped, stop{at, f.sites[branch-1], p, branch})
			continue
		}
		f.leave(branch, isUp, p)
	}
}

// forget drops branches of earlier courses on which nothing is left.
func (f *Fork) forget() {
	for i := range f.past {
		f.past[i] = slices.DeleteFunc(f.past[i], func(old fork) bool {
			return old.lines[0].Counts().Queued+old.lines[1].Counts().Queued == 0
		})
	}
}

// Counts are what a branch did since its course began, down and up.
func (f *Fork) Counts(branch int) (down, up Counts) {
	lines := f.now[branch-1].lines
	return lines[0].Counts(), lines[1].Counts()
}
