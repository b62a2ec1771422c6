package delivery

const (
	// wakeUs is how long a process may take to be woken. A stamp that is older when a program reads is of data that waited:
	// for the program, or for what came before them.
	wakeUs = 200
	// holeUs is how long after packets out of order data are taken to have waited for what came before them.
	holeUs = 1_000_000
)

// Read is what a program read of a TCP connection at once.
type Read struct {
	// End is the offset above the last byte.
	End int64
	// AtUs is when the read returned; StampUs when the kernel received the last packet of it, AtUs where it does not say.
	AtUs, StampUs int64
	// HasWaited: there was nothing to read before.
	HasWaited bool
	// Disordered counts packets that came out of order so far.
	Disordered int64
}

// DeliveredTCP is the receiver's half of a flow over TCP.
//
// The kernel says when a packet came. Without packets out of order that is when its bytes were there in order too, however
// late the program reads. Bytes that waited for a hole to be filled are there when the program is woken for them.
type DeliveredTCP struct {
	blocks      Blocks
	row         Row
	arrivedUs   int64 // of the block that is being read
	deliveredUs int64
	disordered  int64
	disorderUs  int64 // when packets out of order were seen last
	hasHoles    bool
}

// NewDeliveredTCP gives rows to row.
func NewDeliveredTCP(blockBytes int64, row Row) *DeliveredTCP {
	return &DeliveredTCP{blocks: Blocks{blockBytes}, row: row}
}

// Room is how much of a flow may be read at once from an offset on.
func (d *DeliveredTCP) Room(offset int64, most int) int { return d.blocks.Room(offset, most) }

// Take takes in a read.
func (d *DeliveredTCP) Take(r Read) {
	if r.Disordered != d.disordered {
		d.disordered, d.disorderUs, d.hasHoles = r.Disordered, r.AtUs, true
	}
	arrived, delivered := min(r.StampUs, r.AtUs), min(r.StampUs, r.AtUs)
	mayBeLate := d.hasHoles && r.AtUs-d.disorderUs < holeUs || r.AtUs-r.StampUs > holeUs
	if mayBeLate && r.AtUs-r.StampUs > wakeUs {
		delivered = r.AtUs
		if r.HasWaited { // what filled the hole is in it
			arrived = r.AtUs
		}
	}
	d.arrivedUs, d.deliveredUs = max(d.arrivedUs, arrived), max(d.deliveredUs, delivered)
	if block, isEnd := d.blocks.isEnd(r.End); isEnd {
		d.row(block, d.arrivedUs, d.deliveredUs)
	}
	if r.End%d.blocks.Bytes == 0 {
		d.arrivedUs = 0
	}
}

// DeliveredUnits is the receiver's half of a flow whose transport carries units.
type DeliveredUnits struct {
	blocks    Blocks
	unitBytes int64
	row       Row
	open      map[int64]partly // blocks of which something came
	reached   int64            // bytes in order
}

type partly struct{ lastUs int64 }

// NewDeliveredUnits gives rows to row.
func NewDeliveredUnits(blockBytes, unitBytes int64, row Row) *DeliveredUnits {
	return &DeliveredUnits{blocks: Blocks{blockBytes}, unitBytes: unitBytes, row: row, open: map[int64]partly{}}
}

// Arrived takes in that a unit came for the first time, and how many units are there in order now.
func (d *DeliveredUnits) Arrived(unit, inOrder, atUs int64) {
	first, end := unit*d.unitBytes, (unit+1)*d.unitBytes
	for block := d.blocks.Next(first); block*d.blocks.Bytes < end; block = d.blocks.Next((block + 1) * d.blocks.Bytes) {
		d.open[block] = partly{max(d.open[block].lastUs, atUs)}
	}
	reached := inOrder * d.unitBytes
	for block := d.blocks.Next(d.reached); d.blocks.End(block) <= reached; block = d.blocks.Next((block + 1) * d.blocks.Bytes) {
		d.row(block, d.open[block].lastUs, atUs)
		delete(d.open, block)
	}
	d.reached = reached - reached%d.blocks.Bytes
}
