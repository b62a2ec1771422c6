package emulate

import (
	"errors"
	"io/fs"
	"math"
	"slices"
	"time"

	"downlink/agents/internal/lab/pathtrace"
)

// Hop is a part of a link between two routers: two ways of its own, or a path through satellites.
type Hop struct {
	Down Direction `yaml:"down"`
	Up   Direction `yaml:"up"`
	Path *Path     `yaml:"path"`
}

// hops are those of the link from the gateway to the receiver, one for a plain link.
func (profile Profile) hops() []Hop {
	if len(profile.Hops) > 0 {
		return profile.Hops
	}
	return []Hop{{Down: profile.Down, Up: profile.Up, Path: profile.Path}}
}

// path is the link's path through satellites, nil without one.
func (profile Profile) path() *Path {
	for _, hop := range profile.hops() {
		if hop.Path != nil {
			return hop.Path
		}
	}
	return nil
}

// down joins the hops towards the receiver; routers between them keep packets for no time.
func (profile Profile) down(seed uint64) *Line {
	var made builder
	for i, hop := range profile.hops() {
		if hop.Path != nil {
			made.add(i, hop.Path.node(false, seed))
		} else {
			made.add(i, hop.Down.nodes(&seeds{seed, hopStreams * uint64(i)})...)
		}
	}
	return made.line(false)
}

// builder joins the nodes of hops.
type builder struct {
	nodes []Node
	hops  []int
}

func (b *builder) add(hop int, nodes ...Node) {
	for _, node := range nodes {
		b.nodes, b.hops = append(b.nodes, node), append(b.hops, hop)
	}
}

func (b *builder) line(isUp bool) *Line {
	line := NewLine(b.nodes...)
	line.borders = borders{hops: b.hops, isUp: isUp}
	for i, node := range b.nodes {
		if path, isPath := node.(*constellation); isPath {
			path.take = func(at time.Duration, node pathtrace.Node, p *Packet) bool {
				if line.take == nil || line.isAtRouters {
					return false
				}
				line.handOver(at, Site{line.hops[i], node}, p)
				return true
			}
		}
	}
	return line
}

func (profile Profile) up(seed uint64) *Line {
	var made builder
	for i, hop := range slices.Backward(profile.hops()) {
		if hop.Path != nil {
			made.add(i, hop.Path.node(true, seed))
		} else {
			made.add(i, hop.Up.nodes(&seeds{seed, upStreams + hopStreams*uint64(i)})...)
		}
	}
	return made.line(true)
}

// MostHops is how many hops a packet passes at most.
func (profile Profile) MostHops() (most int) {
	for _, hop := range profile.hops() {
		if hop.Path == nil {
			most++
			continue
		}
		longest := 0
		for _, path := range hop.Path.plan.trace.Paths {
			longest = max(longest, len(path.Hops))
		}
		most += longest
	}
	return most
}

// PeakBps is the highest rate of the link, of both ways: in each that of the narrowest hop.
func (profile Profile) PeakBps() float64 {
	down, up := math.Inf(1), math.Inf(1)
	for _, hop := range profile.hops() {
		if hop.Path != nil {
			down, up = min(down, hop.Path.plan.peakBps), min(up, hop.Path.plan.peakBps)
		} else {
			down, up = min(down, hop.Down.peakBps()), min(up, hop.Up.peakBps())
		}
	}
	return max(down, up)
}

func (h Hop) period() time.Duration {
	if h.Path != nil {
		return h.Path.plan.trace.Duration
	}
	return max(h.Down.period(), h.Up.period())
}

func (h *Hop) load(folder fs.FS) error {
	if h.Path != nil {
		return h.Path.load(folder)
	}
	return errors.Join(h.Down.load(folder), h.Up.load(folder))
}

func (h Hop) check(p func(key string) problems) {
	if h.Path != nil {
		h.Path.check(p("path"))
		return
	}
	h.Down.check(p("down"))
	h.Up.check(p("up"))
}

// withFacts states the rate and RTT that hops themselves say, where the profile does not.
func (profile Profile) withFacts() Profile {
	if profile.Hops == nil && profile.Path == nil {
		return profile
	}
	rtt := time.Duration(0)
	for _, hop := range profile.hops() {
		if hop.Path != nil {
			rtt += 2 * hop.Path.plan.leastSum
		} else {
			rtt += milliseconds(hop.Down.Delay.BaseMs) + milliseconds(hop.Up.Delay.BaseMs)
		}
	}
	if profile.Facts.BaseRttMs == 0 {
		profile.Facts.BaseRttMs = inMilliseconds(rtt)
	}
	if profile.Facts.NominalRateBps == 0 {
		profile.Facts.NominalRateBps = profile.PeakBps()
	}
	return profile
}
