package intcp

import "time"

// Policy bounds what a node transfers, for all requesters together.
type Policy struct {
	MaxFlows      int     // of all neighbours
	MaxCacheBytes int     // of all contents
	MaxRateBps    float64 // of a flow to a neighbour, in bits of IP packets a second
	RatedFlows    int     // that may have MaxRateBps each; more of them share what these have together. 0: any number
	MaxAskBytes   uint32  // wanted by one range of an interest
	MaxRefusals   int     // of strangers, a second
}

// DefaultPolicy is for a node that its owner gave no other.
func DefaultPolicy() Policy {
	return Policy{MaxFlows: 64, MaxCacheBytes: 64 << 20, MaxRateBps: 10e9, MaxAskBytes: 64 << 20, MaxRefusals: 100}
}

// Config is what a node is given at its start.
type Config struct {
	Secret [16]byte // of its cookies: random
	Salt   uint32   // of its packets: random, another one after each start
	Policy Policy
	// CatchUp is how much sending a node makes good at once that is called late; 0: a millisecond.
	CatchUp time.Duration
	// Shelf is shared by the nodes of a process that see the same contents; nil: the node shares nothing.
	Shelf *Shelf
}

// Options of the flows of a run. docs/intcp/README.md explains each.
type Options struct {
	BufferBytes    int  // per relay and flow: what may wait for the next hop; 0: what the hops need (roomFor)
	WindowBytes    int  // what a consumer has asked for and not got
	SharesCache    bool // contents are cached for later requesters, and asked for once
	RecoversByHop  bool // hops repair their own losses
	ControlsByHop  bool // hops have their own rates; otherwise each passes on what it is asked for
	AsksOnHandover bool // what is pending is asked for again, at once, of a new neighbour
	RepeatsInterests,
	ProbesTails,
	LeasesRates bool
	HolePackets int // later packets that make a missing one lost
}

// DefaultOptions has each mechanism on.
func DefaultOptions() Options {
	return Options{
		WindowBytes: 8 << 20, SharesCache: true, RecoversByHop: true, ControlsByHop: true,
		AsksOnHandover: true, RepeatsInterests: true, ProbesTails: true, LeasesRates: true, HolePackets: 3,
	}
}

// Hop is a neighbour as orders name it.
type Hop struct {
	Run    uint64
	Number uint16 // of the hop within the run's path, the same for both ends
	Key    Key
	Peer   Address // of the responder; a requester shows its own by cookie
}

// Outbox collects the datagrams that leave in a step. Their bytes are valid until the next Reset.
type Outbox struct {
	Datagrams []Datagram
	bytes     []byte
}

// Datagram is a packet for a neighbour.
type Datagram struct {
	To    Address
	Bytes []byte
}

// Reset empties the box and keeps its memory.
func (o *Outbox) Reset() { o.Datagrams, o.bytes = o.Datagrams[:0], o.bytes[:0] }

// room gives size bytes of the box's memory to be written.
func (o *Outbox) room(to Address, size int) []byte {
	if cap(o.bytes)-len(o.bytes) < size { // what was handed out stays where it is
		o.bytes = make([]byte, 0, max(2*cap(o.bytes), 64<<10))
	}
	from := len(o.bytes)
	o.bytes = o.bytes[:from+size]
	b := o.bytes[from : from+size : from+size]
	o.Datagrams = append(o.Datagrams, Datagram{to, b})
	return b
}

func micros(now time.Duration) uint32 { return uint32(now / time.Microsecond) }
