package tcpinfo

// spareBlocks is how many blocks are there from the beginning: one is filled while the sink has another.
const spareBlocks = 2

// outlet gives blocks to a sink on a goroutine of its own, in order, so that a slow disk does not hold up who records.
type outlet struct {
	names   []string
	samples int
	full    chan Block
	free    chan Block
	written chan error
}

// newOutlet lets so many blocks wait for the sink. Blocks hold so many samples of the named fields.
func newOutlet(names []string, samples, waiting int, sink func(Block) error) *outlet {
	o := &outlet{
		names: names, samples: samples,
		full: make(chan Block, waiting), free: make(chan Block, waiting+1), written: make(chan error, 1),
	}
	for range spareBlocks {
		o.free <- newBlock(names, samples)
	}
	go o.drain(sink)
	return o
}

func newBlock(names []string, samples int) Block {
	block := Block{Names: names, Columns: make([][]int64, len(names))}
	for i := range block.Columns {
		block.Columns[i] = make([]int64, 0, samples)
	}
	return block
}

// next gives an empty block.
func (o *outlet) next(sequence int) (block Block) {
	select {
	case block = <-o.free:
	default:
		block = newBlock(o.names, o.samples)
	}
	block.Sequence = sequence
	return block
}

// put hands a block over. It waits only when too many wait already.
func (o *outlet) put(block Block) { o.full <- block }

// close returns once the sink has every block, with the sink's first error.
func (o *outlet) close() error {
	close(o.full)
	return <-o.written
}

// drain hands blocks to the sink; after its first error it only empties the channel.
func (o *outlet) drain(sink func(Block) error) {
	var failed error
	for block := range o.full {
		if failed == nil {
			failed = sink(block)
		}
		for i := range block.Columns {
			block.Columns[i] = block.Columns[i][:0]
		}
		select {
		case o.free <- block:
		default:
		}
	}
	o.written <- failed
}
