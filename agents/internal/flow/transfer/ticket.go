package transfer

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"regexp"
)

const ticketPrefix = "DL1 "

// ticketShape is a server's prefix with 256 bits in base64url.
var ticketShape = regexp.MustCompile(`^dlt_[A-Za-z0-9_-]{43}$`)

// IsTicket tells whether a text can be a ticket. None other is accepted or shown: an empty one would let everybody in,
// and one with a line end in it would write more than a ticket to wherever a receiver dials.
func IsTicket(text string) bool { return ticketShape.MatchString(text) }

func ticketLine(ticket string) string { return ticketPrefix + ticket + "\n" }

// ticket admits one connection to one flow.
type ticket struct {
	digest [sha256.Size]byte
	used   bool
	conn   chan *net.TCPConn
}

func newTicket(secret string) *ticket {
	return &ticket{digest: sha256.Sum256([]byte(ticketLine(secret))), conn: make(chan *net.TCPConn, 1)}
}

func (t *ticket) matches(digest [sha256.Size]byte) bool {
	return subtle.ConstantTimeCompare(digest[:], t.digest[:]) == 1
}
