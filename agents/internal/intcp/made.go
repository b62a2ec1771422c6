package intcp

import "time"

// A content that its application makes as time goes on is asked for before it is made. How long a unit then takes says how far
// ahead it was asked for, and nothing of the way. So its nodes tell the way instead, hop by hop: an empty DATA says how long the
// round trip from its sender to the application is.

const (
	wayPause   = 100 * time.Millisecond // between two DATA that are sent for this alone
	mostBeyond = time.Minute            // is believed of a neighbour
)

// OfferMade is Offer by an application that makes the content as time goes on.
func (n *Node) OfferMade(run uint64, name Name, ready uint64) {
	if p := n.places[placeKey{run: run, name: name}]; p != nil {
		p.isMade = true
	}
	n.Offer(run, name, ready)
}

// beyond is the round trip from here to the application; 0: the content is there already, or nobody has told.
func (p *place) beyond() time.Duration {
	switch {
	case p.isMade:
		return time.Microsecond
	case p.up != nil && p.up.beyond > 0:
		return p.up.beyond + p.up.requester.law.rtt.smooth
	}
	return 0
}

// tellWays answers interests in such contents, for which an answer to another flow of the hop does not do.
func (s *responder) tellWays(now time.Duration, out *Outbox) {
	for _, r := range s.readers {
		if r.tellsWay && r.place.beyond() > 0 {
			s.sendData(now, r, 0, 0, 0, out)
			r.toldAt = now
		}
		r.tellsWay = false
	}
}

// hearWay takes what an empty DATA tells.
func (s *requester) hearWay(now time.Duration, f *upFlow, us uint64) {
	f.beyond = time.Duration(min(us, uint64(mostBeyond/time.Microsecond))) * time.Microsecond
	c := f.place.consumer
	if c == nil {
		return
	}
	if !c.isMade {
		c.isMade, c.trip = true, wholeTrip()
	}
	c.trip.add(now, f.beyond+s.law.rtt.smooth)
}

// advance notes that a unit came: how long the application pauses between two is no silence.
func (c *Consumer) advance(now time.Duration, unit uint32) {
	if unit < c.front {
		return
	}
	if c.front > 0 {
		c.gap = max(now-c.frontAt, c.gap-c.gap/8)
	}
	c.front, c.frontAt = unit+1, now
}
