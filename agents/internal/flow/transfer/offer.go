package transfer

import "time"

// Offer is a message of so many bytes every so often, instead of as much as goes.
type Offer struct {
	MessageBytes int
	Every        time.Duration
}

// Bytes are there so long after the flow's beginning: the first message is there at once.
func (o Offer) Bytes(past time.Duration) int64 {
	if past < 0 {
		return 0
	}
	return (int64(past/o.Every) + 1) * int64(o.MessageBytes)
}

// Next is when the message after now comes about.
func (o Offer) Next(begin, now time.Time) time.Time {
	past := now.Sub(begin)
	if past < 0 {
		return begin
	}
	return begin.Add((past/o.Every + 1) * o.Every)
}
