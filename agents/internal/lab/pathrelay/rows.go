package pathrelay

import (
	"cmp"
	"slices"
	"time"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/lab/emulate"
)

// Row is what a node did of a content since its last row, and how it stands; of one that has left the way, how it stood then.
type Row struct {
	// Place on the way, from 1 at the sender; of a node that has left, the one it had.
	Place int
	// Node is a satellite's number, from 0; below 0 a station or a router.
	Node int
	RowCounts
	AskedBps, GrantedBps float64
	BacklogBytes         int
	// RTT and Queue are those of the hop that ends here; 0 before the first measurement.
	RTT, Queue time.Duration
}

// RowCounts are what rows add up. What was lost is of the hop that ends here, whatever content it was of.
type RowCounts struct {
	ArrivedBytes, SentBytes, RepairedBytes uint64
	LostPackets, HitUnits                  uint64
}

func (c RowCounts) less(told RowCounts) RowCounts {
	return RowCounts{
		ArrivedBytes: c.ArrivedBytes - told.ArrivedBytes, SentBytes: c.SentBytes - told.SentBytes,
		RepairedBytes: c.RepairedBytes - told.RepairedBytes, LostPackets: c.LostPackets - told.LostPackets,
		HitUnits: c.HitUnits - told.HitUnits,
	}
}

// behindFirstHop is the number of the router there; those behind later hops of the profile follow downwards. A path trace has
// far fewer stations.
const behindFirstHop = -1001

func nodeNumber(site emulate.Site) int {
	if site.Node == emulate.Router {
		return behindFirstHop - site.Hop
	}
	return int(site.Node)
}

// Measure makes Rows possible: nodes that leave the way are remembered until it has told what they did.
func (r *Relays) Measure() { r.isMeasured = true }

// Sites is how many the way has.
func (r *Relays) Sites() int { return len(r.chain) }

// Rows has a row of each node of the way, in the order of their places, and the last one of each that has left it since, before
// the one that has its place now. What is added up over all rows of a node is what it has counted. There are none after End.
func (r *Relays) Rows(at time.Duration, name intcp.Name) []Row {
	if !r.isMeasured {
		return nil
	}
	rows := make([]Row, 0, len(r.chain)+1)
	for _, each := range r.at {
		if each.position == resting {
			if counts := r.untold(each, name); counts != (RowCounts{}) {
				row := each.left[name]
				row.RowCounts = counts
				each.tell(name, counts)
				rows = append(rows, row)
			}
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Node, b.Node)) })
	for _, each := range r.chain {
		row := r.row(at, each, name)
		each.tell(name, row.RowCounts)
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.Place, b.Place) })
	return rows
}

// row is how a node of the way stands, and what it did since its last row.
func (r *Relays) row(at time.Duration, each *relay, name intcp.Name) Row {
	look, hop := each.node.Look(at+clockBegin, r.plan.Run, name), each.node.HopCounts(r.plan.Run)
	row := Row{
		Place: each.position + 1, Node: nodeNumber(each.Site), RowCounts: counted(&look, &hop).less(each.told[name]),
		AskedBps: look.AskedBps, GrantedBps: look.GrantedBps, BacklogBytes: look.WaitingBytes,
	}
	if hop.IsTimed {
		row.RTT, row.Queue = hop.RTT, max(0, hop.Queue)
	}
	return row
}

func counted(look *intcp.Look, hop *intcp.HopCounts) RowCounts {
	return RowCounts{
		ArrivedBytes: look.NewBytes, SentBytes: look.SentBytes, RepairedBytes: look.AgainBytes, LostPackets: hop.Lost,
		HitUnits: look.FromCache,
	}
}

// untold is what a node has counted and no row has told.
func (r *Relays) untold(each *relay, name intcp.Name) RowCounts {
	look, hop := each.node.Look(0, r.plan.Run, name), each.node.HopCounts(r.plan.Run)
	return counted(&look, &hop).less(each.told[name])
}

func (each *relay) tell(name intcp.Name, counts RowCounts) {
	told := each.told[name]
	told.ArrivedBytes += counts.ArrivedBytes
	told.SentBytes += counts.SentBytes
	told.RepairedBytes += counts.RepairedBytes
	told.LostPackets += counts.LostPackets
	told.HitUnits += counts.HitUnits
	each.told[name] = told
}

// owes tells whether rows have something to tell of a node yet.
func (r *Relays) owes(each *relay) bool {
	if !r.isMeasured {
		return false
	}
	for name := range r.passed {
		if r.untold(each, name) != (RowCounts{}) {
			return true
		}
	}
	return false
}
