package intcp

import "time"

// Watch holds the callbacks for the units of one content that pass a node. Neither of them may call the node.
type Watch struct {
	// Sent: a unit of the origin left, other than as a repair on a hop. It may be called more than once for a unit.
	Sent func(now time.Duration, unit uint32)
	// Arrived: a unit came to the consumer for the first time, and so many are there in order now.
	Arrived func(now time.Duration, unit, inOrder uint32)
}

// Watch registers callbacks for a content of a run that this node has published, or will request.
func (n *Node) Watch(run uint64, name Name, watch Watch) {
	key := placeKey{run: run, name: name}
	n.watches[key] = &watch
	if p := n.places[key]; p != nil {
		p.watch = &watch
	}
}

func (p *place) noteSent(now time.Duration, unit uint32) {
	if p.watch != nil && p.watch.Sent != nil {
		p.watch.Sent(now, unit)
	}
}

func (p *place) noteArrived(now time.Duration, unit, inOrder uint32) {
	if p.watch != nil && p.watch.Arrived != nil {
		p.watch.Arrived(now, unit, inOrder)
	}
}
