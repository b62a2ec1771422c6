package pump

import (
	"errors"
	"time"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/pathrelay"
	"downlink/agents/internal/server/linkcontrol"
)

const (
	// relayFarewell is how long relays go on after their run: what tells the neighbours is sent three times.
	relayFarewell = 60 * time.Millisecond
	// mostContents bounds what is looked at each 10 ms.
	mostContents = 64
	firstPort    = 49152
	// mostNews is how much may wait for its reporter.
	mostNews = 32
)

var errLinkDown = errors.New("the link is going down")

// sitting is who has the sites of the pump's link. It belongs to the pump's thread.
type sitting struct {
	owner   emulate.Relays
	profile emulate.Profile
	circuit *emulate.Circuit
	wake    time.Duration
}

// relaying is a run's relays at the sites. It belongs to the pump's thread.
type relaying struct {
	*pathrelay.Relays
	sitting
	contents []intcp.Name
	nextSeen time.Duration
	zero     time.Duration // of the run, from which rows count
	moment   int64         // number of the next ones
	nextRows time.Duration // Never: nobody wants them
	missed   uint64        // rows for which there was no room, of each content
	endsAt   time.Duration // Never while the run is on
	news     chan linkcontrol.RelayNews
}

// do calls a function on the pump's thread and waits for it.
func (p *Pump) do(act func()) error {
	done := make(chan struct{})
	select {
	case p.orders <- func() { defer close(done); act() }:
	case <-p.ended:
		return errLinkDown
	}
	p.wakeUp()
	select {
	case <-done:
		return nil
	case <-p.ended:
		return errLinkDown
	}
}

// obey does what other threads asked for.
func (p *Pump) obey() {
	for {
		select {
		case act := <-p.orders:
			act()
		default:
			return
		}
	}
}

// Fresh gives the relays a packet.
func (p *Pump) Fresh() *emulate.Packet { return p.fresh() }

// Free takes one back.
func (p *Pump) Free(packet *emulate.Packet) {
	packet.Lost, packet.StopsAtSites, packet.Tag, packet.Branch = emulate.NotLost, false, 0, 0
	p.free = append(p.free, packet)
}

// relay lets relays have the sites of the present course.
func (p *Pump) relay(r *relaying) error {
	if p.relaying != nil || p.routers != nil {
		return linkcontrol.ErrBusy
	}
	now := p.now()
	if p.branches != nil {
		p.branches.host(r)
	}
	p.relaying, p.sitting = r, &r.sitting
	r.endsAt, r.nextSeen, r.nextRows = emulate.Never, now, emulate.Never
	p.fly(now, emulate.Network{p.ways[0].Way, p.ways[1].Way}, p.ways[0].zero)
	return nil
}

// fly gives the owner of the sites those of a course. Those of the course before go on passing packets by.
func (p *Pump) fly(at time.Duration, network emulate.Network, zero time.Duration) {
	s := p.sitting
	if s == nil {
		return
	}
	s.circuit, s.wake = emulate.NewCircuit(s.profile, network, s.owner, zero), at
	if p.branches != nil {
		p.branches.Fly(at, s.circuit.Places)
	}
	if p.relaying != nil {
		p.relaying.Fly(at, s.circuit.Places)
	}
}

// isCurrent tells a way from one of an earlier course.
func (p *Pump) isCurrent(w *way) bool { return w == &p.ways[w.index] }

// runCircuit goes on up to a moment on both ways and at the sites, and lets a packet in if there is one.
func (p *Pump) runCircuit(at time.Duration, w *way, in *emulate.Packet) {
	s := p.sitting
	if in == nil {
		s.wake = s.circuit.Run(at, p.leave)
	} else {
		s.wake = s.circuit.Enter(at, w.From == emulate.Receiver, in, p.leave)
	}
	for i := range p.ways {
		p.ways[i].wake = emulate.Never
	}
}

// leave lets out what has left the circuit at either end.
func (p *Pump) leave(isUp bool, out []*emulate.Packet) {
	for i := range p.ways {
		if (p.ways[i].From == emulate.Receiver) == isUp {
			p.letOut(&p.ways[i], out)
		}
	}
}

// watchRelays says what the relays see, and lets them go after the run.
func (p *Pump) watchRelays(now time.Duration) {
	r := p.relaying
	if r == nil {
		return
	}
	if now >= r.endsAt {
		r.circuit.Leave()
		p.relaying, p.sitting = nil, nil
		if p.branches != nil {
			p.branches.host(nil)
			p.sitting = &sitting{owner: p.branches.Fork, profile: r.profile}
			p.fly(now, emulate.Network{p.ways[0].Way, p.ways[1].Way}, p.ways[0].zero)
		}
		close(r.news)
		for i := range p.ways {
			p.ways[i].wake = now
		}
		return
	}
	for at := min(r.nextSeen, r.nextRows); at <= now; at = min(r.nextSeen, r.nextRows) {
		p.runCircuit(at, nil, nil)
		if at == r.nextRows {
			r.tellRows(at)
			continue
		}
		all := make([]linkcontrol.RelaySeen, len(r.contents))
		for i, name := range r.contents {
			s := r.Look(r.nextSeen, name)
			at := &s.Look.Times
			at.FirstSent, at.LastSent = pathrelay.Moment(at.FirstSent), pathrelay.Moment(at.LastSent)
			at.FirstArrived, at.LastArrived = pathrelay.Moment(at.FirstArrived), pathrelay.Moment(at.LastArrived)
			s.Look.Heard = pathrelay.Moment(s.Look.Heard)
			all[i] = linkcontrol.RelaySeen{
				Now: r.nextSeen, UnixNs: p.started.Add(r.nextSeen).UnixNano(), Look: s.Look, Hop: s.Hop, Node: s.Node, IsMet: s.IsMet, Sites: s.Sites,
			}
		}
		r.nextSeen += logEvery
		select {
		case r.news <- linkcontrol.RelayNews{Seen: all}:
		default: // what comes next says it too
		}
	}
}

// measure asks for rows from a moment on.
func (r *relaying) measure(now, zero time.Duration) {
	r.Measure()
	r.zero = zero
	r.follow(int64(max(0, now-zero+linkcontrol.RowsEvery-1) / linkcontrol.RowsEvery))
}

// follow says which rows are next.
func (r *relaying) follow(number int64) {
	r.moment = linkcontrol.NextMoment(number)
	r.nextRows = r.zero + time.Duration(r.moment)*linkcontrol.RowsEvery
}

// tellRows says what each site has done. Where there is no room for it, the next rows say it.
func (r *relaying) tellRows(at time.Duration) {
	untilUs := r.moment * linkcontrol.RowsEvery.Microseconds()
	r.follow(r.moment + 1)
	if len(r.news) == cap(r.news) { // this thread alone fills it
		r.missed += uint64(r.Sites())
		return
	}
	all := make([]linkcontrol.SiteRows, len(r.contents))
	for i, name := range r.contents {
		all[i] = linkcontrol.SiteRows{Content: i, UntilUs: untilUs, Missed: r.missed}
		for j, row := range r.Rows(at, name) {
			all[i].Rows = append(all[i].Rows, siteRow(untilUs+int64(j), &row))
		}
	}
	r.missed = 0
	r.news <- linkcontrol.RelayNews{Rows: all}
}

func siteRow(elapsedUs int64, row *pathrelay.Row) linkcontrol.SiteRow {
	return linkcontrol.SiteRow{
		ElapsedUs: elapsedUs, Place: row.Place, Node: row.Node, ArrivedBytes: row.ArrivedBytes, SentBytes: row.SentBytes,
		RepairedBytes: row.RepairedBytes, LostPackets: row.LostPackets, HitUnits: row.HitUnits, AskedBps: row.AskedBps,
		GrantedBps: row.GrantedBps, BacklogBytes: row.BacklogBytes, RTTUs: row.RTT.Microseconds(), QueueUs: row.Queue.Microseconds(),
	}
}

// sieve marks what is for the relays, and drops what nobody is there to take.
func (p *Pump) sieve(packet *emulate.Packet) (isDropped bool) {
	if p.routers != nil {
		packet.StopsAtSites = p.routers.has(packet)
		return false
	}
	if host := p.options.RelayHost; !host.IsValid() || destination(packet.Data) != host {
		return false
	}
	packet.StopsAtSites = p.relaying != nil && p.relaying.Has(packet.Data)
	return !packet.StopsAtSites
}
