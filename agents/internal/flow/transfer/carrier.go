package transfer

import "context"

// Carrier is one flow at one end over one transport. Carry calls its methods in this order, Sample beside Run.
type Carrier interface {
	// Open connects to the peer and returns when data may move.
	Open(ctx context.Context) error
	// Run moves data until the flow has ended. It calls endSamples where what follows is not part of the measurement.
	Run(ctx context.Context, endSamples func())
	// Sample records the flow's state until its context is done.
	Sample(ctx context.Context)
	// Close frees what Open took, also after it failed, and says what came of the flow. An error means that there was none.
	Close() (Result, error)
}

// Carry carries a flow out from beginning to end.
func Carry(ctx context.Context, flow Carrier) (Result, error) {
	if flow.Open(ctx) == nil {
		endSamples, waitForSamples := sampling(ctx, flow)
		flow.Run(ctx, endSamples)
		waitForSamples()
	}
	return flow.Close()
}

// sampling samples until stop is called; wait returns when no sample is taken any more.
func sampling(ctx context.Context, flow Carrier) (stop, wait func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		flow.Sample(ctx)
	}()
	return cancel, func() { cancel(); <-done }
}
