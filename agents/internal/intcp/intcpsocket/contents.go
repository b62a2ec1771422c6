package intcpsocket

import (
	"slices"
	"time"

	"downlink/agents/internal/intcp"
)

// Publish makes this node the origin of a content, nothing of which is given before its flow's moment. It is called once for
// each flow; those that share a content have one origin.
func (h *Home) Publish(content intcp.Content, stream intcp.Stream) (err error) {
	h.Do(func(_ time.Duration, node *intcp.Node) {
		if h.published[content.Name]++; h.published[content.Name] == 1 {
			err = node.Publish(content, stream, 0)
		}
	})
	return err
}

// Withhold says that a flow is over here. With the last one of its content nothing new of that leaves any more.
func (h *Home) Withhold(content intcp.Content) {
	h.Do(func(_ time.Duration, node *intcp.Node) {
		if h.published[content.Name]--; h.published[content.Name] <= 0 {
			node.Withhold(content.Run, content.Name)
		}
	})
}

// Watch lets somebody know of units that pass, beside others who watch the same content, until stop is called.
func (h *Home) Watch(content intcp.Content, watch intcp.Watch) (stop func()) {
	own := &watch
	h.change(content, func(all []*intcp.Watch) []*intcp.Watch { return append(all, own) })
	return func() {
		h.change(content, func(all []*intcp.Watch) []*intcp.Watch {
			return slices.DeleteFunc(all, func(each *intcp.Watch) bool { return each == own })
		})
	}
}

// change gives a content others who watch it, each of whom hears from the node itself or by way of all.
func (h *Home) change(content intcp.Content, by func(all []*intcp.Watch) []*intcp.Watch) {
	h.Do(func(_ time.Duration, node *intcp.Node) {
		all := by(h.watches[content.Name])
		h.watches[content.Name] = all
		node.Watch(content.Run, content.Name, tellingAll(all))
	})
}

func tellingAll(all []*intcp.Watch) intcp.Watch {
	switch len(all) {
	case 0:
		return intcp.Watch{}
	case 1:
		return *all[0]
	}
	return intcp.Watch{
		Sent: func(now time.Duration, unit uint32) {
			for _, each := range all {
				if each.Sent != nil {
					each.Sent(now, unit)
				}
			}
		},
		Arrived: func(now time.Duration, unit, inOrder uint32) {
			for _, each := range all {
				if each.Arrived != nil {
					each.Arrived(now, unit, inOrder)
				}
			}
		},
	}
}
