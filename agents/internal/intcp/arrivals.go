package intcp

// seenSequences is how far back arrivals remember: older packets count as replayed.
const seenSequences = 1 << 14

const mostHolePackets = 16

// arrivals are the data sequences that came on a hop. A sequence is lost once holePackets later ones have come.
type arrivals struct {
	seen        [seenSequences / 64]uint64
	highest     uint32
	judged      uint32 // each sequence up to here came or was called lost
	top         [mostHolePackets]uint32
	holePackets int
}

func (a *arrivals) at(sequence uint32) (word *uint64, bit uint64) {
	return &a.seen[sequence%seenSequences/64], 1 << (sequence % 64)
}

// take notes a sequence and says whether it is new; sequences begin at 1.
func (a *arrivals) take(sequence uint32) bool {
	if sequence == 0 || sequence+seenSequences <= a.highest {
		return false
	}
	if sequence > a.highest {
		for s := max(a.highest+1, sequence-min(sequence, seenSequences-1)); s < sequence; s++ {
			word, bit := a.at(s)
			*word &^= bit
		}
		a.highest = sequence
	} else if word, bit := a.at(sequence); *word&bit != 0 {
		return false
	}
	word, bit := a.at(sequence)
	*word |= bit
	a.rank(sequence)
	return true
}

// rank keeps the highest sequences, in falling order.
func (a *arrivals) rank(sequence uint32) {
	for i := range a.holePackets {
		if sequence > a.top[i] {
			copy(a.top[i+1:a.holePackets], a.top[i:])
			a.top[i] = sequence
			return
		}
	}
}

// lost appends the runs that are lost as of now and not told before, and says how many sequences they are.
func (a *arrivals) lost(runs []lostRun) (_ []lostRun, n int) {
	threshold := a.top[a.holePackets-1]
	if threshold <= a.judged+1 {
		a.judged = max(a.judged, threshold)
		return runs, 0
	}
	from := a.judged + 1
	if threshold > seenSequences {
		from = max(from, threshold-seenSequences+1)
	}
	for s := from; s < threshold; s++ {
		if word, bit := a.at(s); *word&bit != 0 {
			continue
		}
		n++
		if last := len(runs) - 1; last >= 0 && runs[last].first+uint32(runs[last].count) == s && runs[last].count < 1<<16-1 {
			runs[last].count++
			continue
		}
		runs = append(runs, lostRun{s, 1})
	}
	a.judged = threshold
	return runs, n
}

// replays keep old interests out and say which ones came: the highest, and the 64 before it.
type replays struct {
	highest uint32
	bits    uint64 // bit k: highest-1-k came
}

func (r *replays) take(sequence uint32) bool {
	switch {
	case sequence > r.highest:
		if gap := sequence - r.highest; gap < 64 {
			r.bits = r.bits<<gap | 1<<(gap-1)
		} else if r.bits = 0; gap == 64 {
			r.bits = 1 << 63
		}
		if r.highest == 0 {
			r.bits = 0
		}
		r.highest = sequence
		return true
	case sequence == r.highest || r.highest-sequence > 64:
		return false
	}
	bit := uint64(1) << (r.highest - sequence - 1)
	isNew := r.bits&bit == 0
	r.bits |= bit
	return isNew
}
