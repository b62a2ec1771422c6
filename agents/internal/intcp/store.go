package intcp

import "math/bits"

// blockUnits is how many units a block holds: 46 of 1,400 bytes are what fits into 64 KiB.
const blockUnits = 46

// block is a stretch of a content, some of whose units are there.
type block struct {
	owner  *holding
	number uint32
	there  uint64 // bit k: unit k of the block
	bytes  []byte
	slot   *slot // whose bytes these are; nil: the block's own

	earlier, later *block // by use
}

// cache holds blocks of all contents of a node, at most limitBytes of them. The block least recently used goes first.
type cache struct {
	limitBytes, usedBytes int
	shelf                 *Shelf // nil: nothing is shared
	oldest, newest        *block
	spare                 []*block // of full size, to be used again
	evicted               uint64   // units
}

// holding is what the cache has of one content.
type holding struct {
	cache     *cache
	run       uint64
	name      Name
	unitBytes int
	blocks    map[uint32]*block
	last      *block // the one used last
}

func newHolding(c *cache, content Content) *holding {
	return &holding{cache: c, run: content.Run, name: content.Name, unitBytes: int(content.UnitBytes), blocks: map[uint32]*block{}}
}

func (h *holding) block(number uint32) *block {
	if h.last == nil || h.last.number != number || h.last.owner != h {
		h.last = h.blocks[number]
	}
	return h.last
}

func (h *holding) has(unit uint32) bool {
	b := h.block(unit / blockUnits)
	return b != nil && b.there&(1<<(unit%blockUnits)) != 0
}

// read gives a unit's bytes, length of them; they are valid until the next call.
func (h *holding) read(unit uint32, length int) ([]byte, bool) {
	if !h.has(unit) {
		return nil, false
	}
	h.cache.use(h.last)
	at := int(unit%blockUnits) * h.unitBytes
	return h.last.bytes[at : at+length], true
}

// write keeps a unit, if there is room at all, and says whether it was new.
func (h *holding) write(unit uint32, bytes []byte) bool {
	b := h.block(unit / blockUnits)
	if b == nil {
		if b = h.cache.take(h, unit/blockUnits); b == nil {
			return false
		}
		h.blocks[b.number], h.last = b, b
	}
	bit := uint64(1) << (unit % blockUnits)
	if b.there&bit != 0 {
		return false
	}
	b.there |= bit
	b.put(bit, int(unit%blockUnits)*h.unitBytes, bytes)
	h.cache.use(b)
	return true
}

// wipe forgets all and overwrites it.
func (h *holding) wipe() {
	for _, b := range h.blocks {
		if b.slot == nil {
			clear(b.bytes)
		}
		h.cache.drop(b)
	}
}

// take makes room for a block and gives it; nil where a single block is above the limit.
func (c *cache) take(owner *holding, number uint32) *block {
	size := blockUnits * owner.unitBytes
	if size > c.limitBytes {
		return nil
	}
	for c.usedBytes+size > c.limitBytes {
		c.evicted += uint64(bits.OnesCount64(c.oldest.there))
		c.drop(c.oldest)
	}
	c.usedBytes += size
	if c.shelf != nil {
		s := c.shelf.take(shelfKey{owner.run, owner.name, number, size})
		return &block{owner: owner, number: number, bytes: s.bytes, slot: s}
	}
	for i, b := range c.spare {
		if len(b.bytes) == size {
			c.spare = append(c.spare[:i], c.spare[i+1:]...)
			*b = block{owner: owner, number: number, bytes: b.bytes}
			return b
		}
	}
	return &block{owner: owner, number: number, bytes: make([]byte, size)}
}

// drop takes a block out. A few are kept for the next contents, so that a full cache asks for no memory.
func (c *cache) drop(b *block) {
	c.unlink(b)
	c.usedBytes -= len(b.bytes)
	delete(b.owner.blocks, b.number)
	if b.owner.last == b {
		b.owner.last = nil
	}
	if b.slot != nil {
		c.shelf.leave(b.slot)
		b.slot, b.bytes = nil, nil
		return
	}
	if c.shelf == nil && len(c.spare) < 4 {
		c.spare = append(c.spare, b)
	}
}

func (c *cache) use(b *block) {
	if c.newest == b {
		return
	}
	c.unlink(b)
	b.earlier, b.later = c.newest, nil
	if c.newest != nil {
		c.newest.later = b
	}
	c.newest = b
	if c.oldest == nil {
		c.oldest = b
	}
}

func (c *cache) unlink(b *block) {
	if b.earlier != nil {
		b.earlier.later = b.later
	} else if c.oldest == b {
		c.oldest = b.later
	}
	if b.later != nil {
		b.later.earlier = b.earlier
	} else if c.newest == b {
		c.newest = b.earlier
	}
	b.earlier, b.later = nil, nil
}
