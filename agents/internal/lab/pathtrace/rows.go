package pathtrace

import (
	"fmt"
	"time"
)

// at is the error of a row.
func at(row int, column, reason string, values ...any) error {
	return wrong(fmt.Sprintf("row %d, %s", row+1, column), makeAgain, reason, values...)
}

const allLossPpb = 1_000_000_000

// checkRanges looks at each number by itself.
func checkRanges(header Header, c columns) error {
	for row, hop := range c.hop {
		ranges := []struct {
			column           string
			value, low, high int64
		}{
			{"at_us", c.atUs[row], 0, header.DurationUs}, {"path", c.path[row], 0, 1<<31 - 1}, {"hop", hop, 0, 1000},
			{"node", c.node[row], -int64(len(header.Stations)), int64(header.Constellation.Satellites) - 1},
			{"delay_ns", c.delayNs[row], 1, 1e9}, {"rate_bps", c.rateBps[row], 1e3, 1e11}, {"loss_ppb", c.lossPpb[row], 0, allLossPpb},
			{"gap_us", c.gapUs[row], 0, 60e6},
		}
		if hop == 0 {
			ranges[3].low, ranges[3].high = 0, 0
			ranges[4].low, ranges[4].high = 0, 0
			ranges[5].low, ranges[5].high = 0, 0
			ranges[6].low = allLossPpb
			ranges[7].high = 0
		}
		for _, r := range ranges {
			if r.value < r.low || r.value > r.high {
				return at(row, r.column, "%d is out of range", r.value)
			}
		}
	}
	return nil
}

// join makes paths of rows.
func join(header Header, c columns) (paths []Path, err error) {
	knots := make([]Knot, len(c.atUs))
	for row := range knots {
		knots[row] = Knot{microseconds(c.atUs[row]), time.Duration(c.delayNs[row]), float64(c.rateBps[row]), float64(c.lossPpb[row]) / allLossPpb}
	}
	var end time.Duration
	for row := 0; row < len(knots); {
		if c.path[row] != int64(len(paths)) {
			return nil, at(row, "path", "%d where %d is due", c.path[row], len(paths))
		}
		path, next, err := joinPath(header, c, knots, row, end)
		if err != nil {
			return nil, err
		}
		paths, row, end = append(paths, path), next, path.End
	}
	if end != microseconds(header.DurationUs) {
		return nil, at(len(knots)-1, "at_us", "the last path ends at %d us and not at %d us", end.Microseconds(), header.DurationUs)
	}
	return paths, nil
}

// joinPath takes the rows of the path that begins with a row, at a moment.
func joinPath(header Header, c columns, knots []Knot, row int, start time.Duration) (path Path, next int, err error) {
	first := row
	path.Start = start
	isNone := c.hop[row] == 0
	for number := c.hop[row]; row < len(knots) && c.path[row] == c.path[first]; number++ {
		switch {
		case number > 1 && row == first, c.hop[row] != number:
			return path, 0, at(row, "hop", "%d does not follow: hops count from 1 without a gap", c.hop[row])
		case isNone && row > first:
			return path, 0, at(row, "hop", "it follows a row that says that there is no path")
		}
		hop, after, err := joinHop(c, knots, row)
		if err != nil {
			return path, 0, err
		}
		begins, ends := hop.Knots[0].At, hop.Knots[len(hop.Knots)-1].At
		if row == first {
			path.End = ends
		}
		if begins != start || ends != path.End || ends <= begins {
			return path, 0, at(row, "at_us", "the hop does not reach over its whole path, %d to %d us",
				start.Microseconds(), path.End.Microseconds())
		}
		if !isNone {
			if err := checkJoint(header, path, hop, row); err != nil {
				return path, 0, err
			}
			path.Hops = append(path.Hops, hop)
		}
		row = after
	}
	if last := len(path.Hops) - 1; last >= 0 && path.Hops[last].To != Node(-len(header.Stations)) {
		return path, 0, at(row-1, "node", "the path ends at %d and not at station %s",
			path.Hops[last].To, header.Stations[len(header.Stations)-1].Name)
	}
	return path, row, nil
}

// joinHop takes the rows of one hop of one path.
func joinHop(c columns, knots []Knot, first int) (hop Hop, next int, err error) {
	hop = Hop{To: Node(c.node[first]), Gap: microseconds(c.gapUs[first])}
	for next = first + 1; next < len(knots) && c.path[next] == c.path[first] && c.hop[next] == c.hop[first]; next++ {
		switch {
		case c.atUs[next] <= c.atUs[next-1]:
			return hop, 0, at(next, "at_us", "times do not rise")
		case c.node[next] != c.node[first]:
			return hop, 0, at(next, "node", "it changes within a path")
		case c.gapUs[next] != 0:
			return hop, 0, at(next, "gap_us", "only the first row of a hop may have a gap")
		}
	}
	hop.Knots = knots[first:next:next]
	return hop, next, nil
}

// checkJoint holds a hop against those before it.
func checkJoint(header Header, path Path, hop Hop, row int) error {
	before := FirstStation
	if hop.To == FirstStation {
		return at(row, "node", "the path comes to %d twice", hop.To)
	}
	for _, earlier := range path.Hops {
		if before = earlier.To; before == hop.To {
			return at(row, "node", "the path comes to %d twice", hop.To)
		}
	}
	if before < 0 && hop.To < 0 || header.ISL == noISL && before >= 0 && hop.To >= 0 {
		return at(row, "node", "no hop leads from %d to %d", before, hop.To)
	}
	return nil
}
