package pump

import (
	"time"

	"downlink/agents/internal/lab/linkserver"
	"downlink/agents/internal/server/linkcontrol"
)

// What a link says and does at its control socket.

// Describe names the link, and its path trace.
func (p *Pump) Describe() linkcontrol.Link {
	link := linkcontrol.Link{Name: p.options.Name, Profile: p.options.Profile.Name}
	if path, isThere := p.options.Profile.PathSummary(); isThere {
		link.PathTrace = &linkcontrol.PathTrace{Name: path.Name, LastsUs: path.Lasts.Microseconds()}
	}
	return link
}

// Restart lets the pump begin a new course; it returns at once for a moment to come.
func (p *Pump) Restart(at time.Time, seed uint64, window *linkcontrol.Window) (linkserver.Session, error) {
	c, err := newCourse(p.options.Profile, seed, window, at, p.wakeUp)
	if err != nil {
		return nil, err
	}
	p.next.Store(c)
	p.wakeUp()
	if time.Until(at) <= 0 {
		select {
		case <-c.began:
		case <-p.ended:
		}
	}
	select {
	case <-p.ended:
		return nil, errLinkDown
	default: // if the pump ends from now on, it ends this course as well
		return c, nil
	}
}
