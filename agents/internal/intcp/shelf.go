package intcp

import "bytes"

// Shelf keeps what several nodes of one process hold alike only once: the satellites of an emulated path see the same bytes
// pass. Each node has its own cache all the same, with its own limit, and a node to which other bytes came keeps those.
type Shelf struct{ slots map[shelfKey]*slot }

// NewShelf makes an empty one.
func NewShelf() *Shelf { return &Shelf{slots: map[shelfKey]*slot{}} }

type shelfKey struct {
	run    uint64
	name   Name
	number uint32 // of the block
	size   int
}

type slot struct {
	key   shelfKey
	bytes []byte
	there uint64 // as in a block
	users int
}

func (s *Shelf) take(key shelfKey) *slot {
	found := s.slots[key]
	if found == nil {
		found = &slot{key: key, bytes: make([]byte, key.size)}
		s.slots[key] = found
	}
	found.users++
	return found
}

// leave gives a slot back; the last who does wipes it.
func (s *Shelf) leave(left *slot) {
	if left.users--; left.users == 0 {
		clear(left.bytes)
		delete(s.slots, left.key)
	}
}

// put keeps a unit in a block, shared or not.
func (b *block) put(bit uint64, at int, unit []byte) {
	if b.slot == nil {
		copy(b.bytes[at:], unit)
		return
	}
	switch {
	case b.slot.there&bit == 0:
		b.slot.there |= bit
		copy(b.bytes[at:], unit)
	case !bytes.Equal(b.bytes[at:at+len(unit)], unit):
		own := bytes.Clone(b.bytes)
		b.owner.cache.shelf.leave(b.slot)
		b.slot, b.bytes = nil, own
		copy(own[at:], unit)
	}
}
