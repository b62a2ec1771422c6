package intcp

import "time"

// keptOpens is how many OPENs in a row may be under way: at one a second, those of a round trip of 15 s and more.
const keptOpens = 20

// openTimes are when the newest OPENs of a flow, or of a greeting, left. An answer names the clock of one of them: it may come
// long after later ones have left.
type openTimes struct {
	at [keptOpens]time.Duration
	n  int
}

func (o *openTimes) add(now time.Duration) {
	o.at[o.n%keptOpens] = now
	o.n++
}

// trip is how long ago the OPEN left that an answer names by its clock, unless none of these did.
func (o *openTimes) trip(now time.Duration, echoUs uint32) (trip time.Duration, isOurs bool) {
	for _, at := range o.at[:min(o.n, keptOpens)] {
		if micros(at) == echoUs {
			return now - at, true
		}
	}
	return 0, false
}

// openPause is between an OPEN and the next one, after so many that nothing answered.
func openPause(unanswered int) time.Duration {
	if unanswered == 0 {
		return 0
	}
	return min(mostOpenPause, openPatience<<min(unanswered-1, 3))
}
