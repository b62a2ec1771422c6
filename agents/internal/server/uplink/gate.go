package uplink

import (
	"context"
	"errors"
	"sync"
)

// errSilence cancels calls that were under way when silence began.
var errSilence = errors.New("silence while data flows")

// Gate is what keeps an agent silent while it receives. It starts open.
type Gate struct {
	mu     sync.Mutex
	opened chan struct{}
	cancel map[int]context.CancelCauseFunc
	next   int
}

// NewGate returns an open gate.
func NewGate() *Gate {
	opened := make(chan struct{})
	close(opened)
	return &Gate{opened: opened, cancel: map[int]context.CancelCauseFunc{}}
}

// Shut stops all calls, those under way included.
func (g *Gate) Shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOpen() {
		g.opened = make(chan struct{})
	}
	for _, cancel := range g.cancel {
		cancel(errSilence)
	}
}

// Open lets calls through again.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isOpen() {
		close(g.opened)
	}
}

func (g *Gate) isOpen() bool {
	select {
	case <-g.opened:
		return true
	default:
		return false
	}
}

// Pass makes a call as soon as the gate is open; the call's context ends when the gate is shut.
func (g *Gate) Pass(ctx context.Context, call func(ctx context.Context) error) error {
	for {
		callCtx, leave, err := g.enter(ctx)
		if err != nil {
			return err
		}
		if callCtx == nil {
			continue
		}
		defer leave()
		return call(callCtx)
	}
}

// enter returns a nil context when the gate was shut again before it could be passed.
func (g *Gate) enter(ctx context.Context) (context.Context, func(), error) {
	g.mu.Lock()
	opened := g.opened
	g.mu.Unlock()
	select {
	case <-opened:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isOpen() {
		return nil, nil, nil
	}
	callCtx, cancel := context.WithCancelCause(ctx)
	id := g.next
	g.next++
	g.cancel[id] = cancel
	return callCtx, func() { g.leave(id) }, nil
}

func (g *Gate) leave(id int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cancel[id](nil)
	delete(g.cancel, id)
}
