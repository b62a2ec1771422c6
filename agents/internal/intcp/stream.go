package intcp

import "encoding/binary"

// Stream is a content made from a seed: the seed determines each byte, at any offset.
type Stream struct{ Seed uint64 }

// word mixes the seed and a position into eight bytes (the finaliser of splitmix64, Steele et al. 2014).
func (s Stream) word(position uint64) uint64 {
	x := s.Seed + (position+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Read fills b with the stream's bytes from an offset on.
func (s Stream) Read(offset uint64, b []byte) {
	for ; offset%8 == 0 && len(b) >= 8; b, offset = b[8:], offset+8 {
		binary.LittleEndian.PutUint64(b, s.word(offset/8))
	}
	for len(b) > 0 {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], s.word(offset/8))
		n := copy(b, word[offset%8:])
		b, offset = b[n:], offset+uint64(n)
	}
}

// Equal says whether b are the stream's bytes from an offset on.
func (s Stream) Equal(offset uint64, b []byte) bool {
	for offset%8 == 0 && len(b) >= 8 {
		if binary.LittleEndian.Uint64(b) != s.word(offset/8) {
			return false
		}
		b, offset = b[8:], offset+8
	}
	for len(b) > 0 {
		if b[0] != byte(s.word(offset/8)>>(8*(offset%8))) {
			return false
		}
		b, offset = b[1:], offset+1
	}
	return true
}
