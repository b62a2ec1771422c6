package acks

const (
	noRTT  = -1 // no sample was taken
	caLoss = 4  // TCP_CA_Loss, the state after a timeout
)

// settler makes of the probe's records what a control's are. The probe fires before an acknowledgement is processed:
// its record holds the windows that the acknowledgement met, and only the record after it what the acknowledgement did.
type settler struct {
	met   Ack
	isMet bool
}

// settle hands over the record of the acknowledgement before next. The last one of a socket is never settled. What the
// retransmission timer did is a record of its own.
func (s *settler) settle(next *Ack, each func(*Ack)) {
	isTimer := next.Source == FromTimer
	if s.isMet {
		done := outcome(&s.met, next)
		if isTimer {
			undoTimer(&done, &s.met)
		}
		each(&done)
	}
	if isTimer {
		struck := *next
		struck.CaState, struck.AckRttUs = caLoss, noRTT
		each(&struck)
	}
	s.met, s.isMet = *next, !isTimer
}

// outcome is met with what next shows to have come of it. RTT samples of the kernel outlast the acknowledgement that
// gave them, so one that delivered nothing, or whose own outcome the ring had no room for, has none.
func outcome(met, next *Ack) Ack {
	done := *next
	done.TimeNs, done.Acks = met.TimeNs, met.Acks
	done.CwndSegments, done.PacingRateBytesS, done.SndMssBytes = met.CwndSegments, met.PacingRateBytesS, met.SndMssBytes
	done.SentBytes, done.RetransmittedBytes, done.SndNxt = met.SentBytes, met.RetransmittedBytes, met.SndNxt
	done.NotsentBytes, done.UnackedSegments, done.InFlightSegments = met.NotsentBytes, met.UnackedSegments, met.InFlightSegments
	if next.DeliveredSegments == met.DeliveredSegments || !isOutcomeKnown(met, next) {
		done.AckRttUs = noRTT
	}
	return done
}

func isOutcomeKnown(met, next *Ack) bool {
	if next.Source == FromTimer {
		return next.Acks == met.Acks
	}
	return next.Acks == met.Acks+1
}

// undoTimer gives an acknowledgement's record what it met wherever the timer after it changed it. What the acknowledgement
// itself changed there cannot be told apart, and shows in the timer's record.
func undoTimer(done, met *Ack) {
	done.Source, done.CaState, done.SsthreshSegments = met.Source, met.CaState, met.SsthreshSegments
	done.LostSegments, done.LostTotalSegments, done.SackedSegments = met.LostSegments, met.LostTotalSegments, met.SackedSegments
	done.RetransSegments, done.TotalRetransSegments = met.RetransSegments, met.TotalRetransSegments
}
