package delivery

import "math/bits"

const (
	// BlockBytes is how long a block is where no offer says it.
	BlockBytes = 16 << 10
	// wholeBlocks are those from the beginning that all have a row. In each doubling after them half as many have one,
	// so that a long run has few rows more than a short one.
	wholeBlocks = 1 << 16
)

// Names are the columns of the two halves.
var (
	SentNames      = []string{"elapsed_us", "block", "sent_at_us"}
	DeliveredNames = []string{"elapsed_us", "block", "arrived_at_us", "delivered_at_us"}
)

// Blocks are what a flow is cut into. Which of them have a row follows from their number alone, so that both ends keep the
// same ones.
type Blocks struct{ Bytes int64 }

// Stride is how many blocks share one row around this one: 1 up to block 65,535, then 2, from 131,072 on 4, and so on.
func Stride(block int64) int64 {
	if block < wholeBlocks {
		return 1
	}
	return 1 << (bits.Len64(uint64(block/wholeBlocks)) & 63)
}

// IsKept tells whether a block has a row.
func IsKept(block int64) bool { return block%Stride(block) == 0 }

// Next is the first kept block whose end lies above an offset.
func (b Blocks) Next(offset int64) int64 {
	block := offset / b.Bytes
	if stride := Stride(block); block%stride != 0 {
		block += stride - block%stride
	}
	return block // strides are powers of two that begin at powers of two: it is kept, also where the next stride begins
}

// End is the offset above a block's last byte.
func (b Blocks) End(block int64) int64 { return (block + 1) * b.Bytes }

// Room is how many bytes from an offset on belong together: up to the end of the next kept block, and at most so many.
func (b Blocks) Room(offset int64, most int) int {
	return int(min(int64(most), b.End(b.Next(offset))-offset))
}

// isEnd tells whether a kept block ends at an offset, and which.
func (b Blocks) isEnd(offset int64) (block int64, isEnd bool) {
	if offset <= 0 || offset%b.Bytes != 0 {
		return 0, false
	}
	block = offset/b.Bytes - 1
	return block, IsKept(block)
}
