package congestion

// noRTT says that no sample was taken.
const noRTT = -1

// settler makes of the probe's records what a control's are. The probe fires before an acknowledgement is processed:
// its record holds the windows that the acknowledgement met, and only the record after it what the acknowledgement did.
type settler struct {
	met   Ack
	isMet bool
}

// settle gives the record of the acknowledgement before next; false while there is none. The last one of a socket is
// never settled.
func (s *settler) settle(next *Ack) (Ack, bool) {
	met, isMet := s.met, s.isMet
	s.met, s.isMet = *next, true
	return outcome(&met, next), isMet
}

// outcome is met with what next shows to have come of it. RTT samples of the kernel outlast the acknowledgement that
// gave them, so one that delivered nothing, or whose own outcome the ring had no room for, has none.
func outcome(met, next *Ack) Ack {
	done := *next
	done.TimeNs, done.Acks = met.TimeNs, met.Acks
	done.CwndSegments, done.PacingRateBytesS, done.SndMssBytes = met.CwndSegments, met.PacingRateBytesS, met.SndMssBytes
	done.SentBytes, done.RetransmittedBytes, done.SndNxt = met.SentBytes, met.RetransmittedBytes, met.SndNxt
	done.NotsentBytes, done.UnackedSegments, done.InFlightSegments = met.NotsentBytes, met.UnackedSegments, met.InFlightSegments
	if next.DeliveredSegments == met.DeliveredSegments || next.Acks != met.Acks+1 {
		done.AckRttUs = noRTT
	}
	return done
}
