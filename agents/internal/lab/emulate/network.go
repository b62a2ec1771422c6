package emulate

// The places that a profile's link joins.
const (
	Gateway  = "gateway"
	Receiver = "receiver"
)

// Way is a line from one place to another.
type Way struct {
	From, To string
	Line     *Line
}

// Network is the ways that there are between places. Each place has one way out.
type Network []Way

// New builds the network of a profile: a way from the gateway down to the receiver and one back up. The same profile and
// seed give the same network; each node draws from a stream of its own, so that packets of one way do not touch the fate
// of another's.
func New(profile Profile, seed uint64) Network {
	return Network{
		{From: Gateway, To: Receiver, Line: profile.down(seed)},
		{From: Receiver, To: Gateway, Line: profile.up(seed)},
	}
}

// Line returns the line between two places, nil where there is none.
func (n Network) Line(from, to string) *Line {
	for _, way := range n {
		if way.From == from && way.To == to {
			return way.Line
		}
	}
	return nil
}
