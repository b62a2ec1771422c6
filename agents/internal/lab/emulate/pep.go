package emulate

import "time"

// Pep is a performance-enhancing proxy in the gateway: TCP ends there, and goes on over a connection of its own on either
// side. Packets know nothing of it; package netlab starts it where a profile asks for one.
type Pep struct {
	Satellite       Segment `yaml:"satellite"`   // between gateway and receiver
	Terrestrial     Segment `yaml:"terrestrial"` // between gateway and senders
	MostConnections int     `yaml:"most_connections"`
	BufferBytes     int     `yaml:"buffer_bytes"`
	DeadAfterS      float64 `yaml:"dead_after_s"`
}

// Segment is what the proxy's connections on one side use.
type Segment struct {
	Cc                    string `yaml:"cc"`
	InitialWindowSegments int    `yaml:"initial_window_segments"`
}

const (
	defaultPepConnections = 64
	defaultPepBufferBytes = 32_000_000
	defaultPepDeadAfterS  = 60
	mostPepConnections    = 1024
	mostPepBufferBytes    = 256_000_000
	mostInitialWindow     = 65535
)

// withDefaults fills in what the profile leaves out.
func (p Pep) withDefaults() *Pep {
	if p.MostConnections == 0 {
		p.MostConnections = defaultPepConnections
	}
	if p.BufferBytes == 0 {
		p.BufferBytes = defaultPepBufferBytes
	}
	if p.DeadAfterS == 0 {
		p.DeadAfterS = defaultPepDeadAfterS
	}
	return &p
}

// DeadAfter is how long a peer may leave data or probes unanswered.
func (p Pep) DeadAfter() time.Duration { return time.Duration(p.DeadAfterS * float64(time.Second)) }

func (p Pep) check(at problems) {
	p.Satellite.check(at.under("satellite"))
	p.Terrestrial.check(at.under("terrestrial"))
	at.require(p.MostConnections >= 1 && p.MostConnections <= mostPepConnections, "most_connections", "from 1 to 1024", p.MostConnections)
	at.require(p.BufferBytes >= 65536 && p.BufferBytes <= mostPepBufferBytes, "buffer_bytes", "from 65536 to 256000000", p.BufferBytes)
	at.require(p.DeadAfterS >= 1 && p.DeadAfterS <= 3600, "dead_after_s", "from 1 to 3600", p.DeadAfterS)
}

func (s Segment) check(at problems) {
	at.require(s.Cc != "", "cc", "the name of a congestion control", "empty")
	at.require(s.InitialWindowSegments >= 0 && s.InitialWindowSegments <= mostInitialWindow, "initial_window_segments", "from 1 to 65535",
		s.InitialWindowSegments)
}
