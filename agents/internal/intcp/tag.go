package intcp

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// Key authenticates the packets of one hop in one run.
type Key [16]byte

// Address is a neighbour as its home knows it: 16 bytes of IP address and 2 of port, or whatever else tells two apart.
type Address [18]byte

// Directions of a nonce: no two packets of a key share direction, salt and sequence.
const (
	upstream   uint32 = 1 + iota // requester to responder
	downstream                   // responder to requester
	stateless                    // answers of a node that keeps nothing of who asked
)

// sealer makes and checks tags.
type sealer struct {
	aead  cipher.AEAD
	nonce [12]byte
	empty [tagBytes]byte
}

func newSealer(key Key) *sealer {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // 16 bytes are a key
	}
	aead, err := cipher.NewGCMWithTagSize(block, tagBytes)
	if err != nil {
		panic(err)
	}
	return &sealer{aead: aead}
}

func (s *sealer) setNonce(direction, salt, sequence uint32) {
	binary.BigEndian.PutUint32(s.nonce[0:], direction)
	binary.BigEndian.PutUint32(s.nonce[4:], salt)
	binary.BigEndian.PutUint32(s.nonce[8:], sequence)
}

// seal writes the tag of authentic bytes behind them.
func (s *sealer) seal(direction, salt, sequence uint32, b []byte, authentic int) {
	s.setNonce(direction, salt, sequence)
	s.aead.Seal(b[: authentic : authentic+tagBytes][authentic:authentic], s.nonce[:], nil, b[:authentic])
}

// holds says whether the tag behind the first authentic bytes is right.
func (s *sealer) holds(direction, salt, sequence uint32, b []byte, authentic int) bool {
	s.setNonce(direction, salt, sequence)
	_, err := s.aead.Open(s.empty[:0], s.nonce[:], b[authentic:authentic+tagBytes], b[:authentic])
	return err == nil
}

// authentic is how many bytes in front a packet's tag covers: all but tag and payload.
func authentic(k kind, size int) int {
	if k == kindData {
		return dataBytes - tagBytes
	}
	return size - tagBytes
}

// cookieLife is how long an address once shown counts; twice that at most. It is longer than any round trip.
const cookieLife = 20 * time.Second

// cookies prove that who asks receives at its address, without remembering anybody.
type cookies struct{ secret [16]byte }

func (c cookies) of(now time.Duration, address Address, run uint64, hop uint16) cookie {
	mac := hmac.New(sha256.New, c.secret[:])
	var b [18 + 8 + 8 + 2]byte
	copy(b[:], address[:])
	binary.BigEndian.PutUint64(b[18:], uint64(now/cookieLife))
	binary.BigEndian.PutUint64(b[26:], run)
	binary.BigEndian.PutUint16(b[34:], hop)
	mac.Write(b[:])
	return cookie(mac.Sum(nil)[:16])
}

func (c cookies) holds(now time.Duration, shown cookie, address Address, run uint64, hop uint16) bool {
	fresh := c.of(now, address, run, hop)
	earlier := c.of(max(0, now-cookieLife), address, run, hop)
	return hmac.Equal(shown[:], fresh[:]) || hmac.Equal(shown[:], earlier[:])
}
