package emulate

import "time"

// IdleRtts sends probes of sizeBytes over a fresh link of a profile in virtual time, one at a time, spaced as given.
// It returns the RTT of each probe that came back, in order.
func IdleRtts(profile Profile, seed uint64, n int, spacing time.Duration, sizeBytes int) (rtts []time.Duration) {
	network := New(profile, seed)
	down, up := network.Line(Gateway, Receiver), network.Line(Receiver, Gateway)
	for i := range n {
		sent := time.Duration(i) * spacing
		if there, ok := through(down, sent, sizeBytes); ok {
			if back, ok := through(up, there, sizeBytes); ok {
				rtts = append(rtts, back-sent)
			}
		}
	}
	return rtts
}

// through sends one packet across a line with nothing else on it.
func through(line *Line, at time.Duration, sizeBytes int) (left time.Duration, isDelivered bool) {
	out, wake := line.Step(at, &Packet{SizeBytes: sizeBytes}, nil)
	for ; len(out) == 0; out, wake = line.Step(wake, nil, out) {
	}
	return out[0].LeftAt, out[0].Lost == NotLost
}

// Predict says when each of packets of one size, which enter a fresh line of a profile's way down at the given times,
// would reach the receiver; Never if it is lost. Times ascend.
func Predict(profile Profile, seed uint64, sent []time.Duration, sizeBytes int) []time.Duration {
	line := New(profile, seed).Line(Gateway, Receiver)
	packets := make([]Packet, len(sent))
	for i, at := range sent {
		packets[i].SizeBytes = sizeBytes
		line.Step(at, &packets[i], nil)
	}
	line.Step(Never-1, nil, nil)
	arrivals := make([]time.Duration, len(sent))
	for i := range packets {
		arrivals[i] = packets[i].LeftAt
		if packets[i].Lost != NotLost {
			arrivals[i] = Never
		}
	}
	return arrivals
}
