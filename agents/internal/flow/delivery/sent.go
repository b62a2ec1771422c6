package delivery

// Row takes one row of a half: its block, and moments in µs of the run's clock.
type Row func(block int64, moments ...int64)

// SentTCP is the sender's half of a flow over TCP. The kernel stamps the last byte of each write that asks for it, but
// keeps one stamp for each buffer that leaves: a block whose stamp made room for that of a later one has no row, unless
// all since the stamp before fits into one segment, as small messages do.
type SentTCP struct {
	Blocks Blocks
	// Rows is how many blocks were stamped.
	Rows uint64

	row          Row
	segmentBytes int64
	end          int64 // above the newest byte with a stamp
	next         int64 // the first block that was not decided upon
}

// mostSegmentBytes is what a packet of an Ethernet carries. Larger segments hold whole blocks, which may leave before their
// write asks for the stamp.
const mostSegmentBytes = 1448

// NewSentTCP gives rows to row.
func NewSentTCP(blockBytes, segmentBytes int64, row Row) *SentTCP {
	return &SentTCP{Blocks: Blocks{blockBytes}, segmentBytes: min(segmentBytes, mostSegmentBytes), row: row}
}

// Stamp takes in that the byte with this number, modulo 2^32, left at a moment. Bytes leave in order: what comes for an
// earlier one is of a repetition.
func (s *SentTCP) Stamp(number uint32, atUs int64) {
	end := s.end + int64(int32(number+1-uint32(s.end)))
	if end <= s.end {
		return
	}
	block := s.Blocks.Next(max(s.end, s.next*s.Blocks.Bytes))
	for ; s.Blocks.End(block) <= end; block = s.Blocks.Next((block + 1) * s.Blocks.Bytes) {
		if s.Blocks.End(block) == end || end-s.end <= s.segmentBytes {
			s.row(block, atUs)
			s.Rows++
		}
		s.next = block + 1
	}
	s.end = end
}

// SentUnits is the sender's half of a flow whose transport sends units, in any order.
type SentUnits struct {
	blocks    Blocks
	unitBytes int64
	row       Row
	seen      map[int64]bool // blocks with a row above all that have one
	below     int64
}

// NewSentUnits gives rows to row.
func NewSentUnits(blockBytes, unitBytes int64, row Row) *SentUnits {
	return &SentUnits{blocks: Blocks{blockBytes}, unitBytes: unitBytes, row: row, seen: map[int64]bool{}}
}

// mostSeen bounds what is remembered of blocks that left before earlier ones.
const mostSeen = 1 << 15

// Sent takes in that a unit left, for the first time or again.
func (s *SentUnits) Sent(unit, atUs int64) {
	first, end := unit*s.unitBytes, (unit+1)*s.unitBytes
	for block := s.blocks.Next(first); s.blocks.End(block) <= end; block = s.blocks.Next((block + 1) * s.blocks.Bytes) {
		if block >= s.below && !s.seen[block] {
			s.row(block, atUs)
			s.seen[block] = true
		}
	}
	for s.seen[s.blocks.Next(s.below*s.blocks.Bytes)] || len(s.seen) > mostSeen {
		next := s.blocks.Next(s.below * s.blocks.Bytes)
		delete(s.seen, next)
		s.below = next + 1
	}
}
