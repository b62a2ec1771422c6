package acks

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func settleAll(records ...Ack) (settled []Ack) {
	var s settler
	for i := range records {
		s.settle(&records[i], func(ack *Ack) { settled = append(settled, *ack) })
	}
	return settled
}

func TestASettledRecordJoinsWhatAnAcknowledgementMetWithWhatItDid(t *testing.T) {
	const infinite = 0x7fffffff
	settled := settleAll(
		Ack{Acks: 1, TimeNs: 100, CwndSegments: 16, SndNxt: 160, SsthreshSegments: infinite, AckRttUs: noRTT},
		// The first acknowledgement delivered 2 segments after 50 us, let the window grow and two more leave.
		Ack{Acks: 2, TimeNs: 200, CwndSegments: 18, SndNxt: 180, SsthreshSegments: infinite, DeliveredSegments: 2, AckRttUs: 50},
		// The second one ended slow start at the window of 18 that it met.
		Ack{Acks: 3, TimeNs: 300, CwndSegments: 18, SndNxt: 200, SsthreshSegments: 18, DeliveredSegments: 4, AckRttUs: 60},
	)
	require.Len(t, settled, 2, "nobody has seen what the last one did")
	require.Equal(t, Ack{Acks: 1, TimeNs: 100, CwndSegments: 16, SndNxt: 160, SsthreshSegments: infinite, DeliveredSegments: 2, AckRttUs: 50},
		settled[0])
	require.Equal(t, Ack{Acks: 2, TimeNs: 200, CwndSegments: 18, SndNxt: 180, SsthreshSegments: 18, DeliveredSegments: 4, AckRttUs: 60},
		settled[1])
}

// A retransmission timer strikes between two acknowledgements: what it changed is none of the earlier one's doing.
func TestWhatATimerChangedHasARowOfItsOwn(t *testing.T) {
	const infinite = 0x7fffffff
	settled := settleAll(
		Ack{Acks: 1, Source: FromProbe, TimeNs: 100, CwndSegments: 16, SsthreshSegments: infinite, AckRttUs: noRTT},
		Ack{Acks: 1, Source: FromTimer, TimeNs: 901, CwndSegments: 1, SsthreshSegments: 9, DeliveredSegments: 2, LostSegments: 18,
			LostTotalSegments: 18, AckRttUs: 50},
		Ack{Acks: 2, Source: FromProbe, TimeNs: 1000, CwndSegments: 1, SsthreshSegments: 9, DeliveredSegments: 2, LostSegments: 18,
			CaState: caLoss, AckRttUs: 50},
		Ack{Acks: 3, Source: FromProbe, TimeNs: 1100, CwndSegments: 2, SsthreshSegments: 9, DeliveredSegments: 3, LostSegments: 17,
			CaState: caLoss, AckRttUs: 70},
	)
	require.Len(t, settled, 3)
	require.Equal(t, Ack{Acks: 1, Source: FromProbe, TimeNs: 100, CwndSegments: 16, SsthreshSegments: infinite, DeliveredSegments: 2,
		AckRttUs: 50}, settled[0])
	require.Equal(t, Ack{Acks: 1, Source: FromTimer, TimeNs: 901, CwndSegments: 1, SsthreshSegments: 9, DeliveredSegments: 2, LostSegments: 18,
		LostTotalSegments: 18, CaState: caLoss, AckRttUs: noRTT}, settled[1])
	require.Equal(t, Ack{Acks: 2, Source: FromProbe, TimeNs: 1000, CwndSegments: 1, SsthreshSegments: 9, DeliveredSegments: 3,
		LostSegments: 17, CaState: caLoss, AckRttUs: 70}, settled[2])
}

func TestAnAcknowledgementThatDeliversNothingOrIsMissedHasNoSample(t *testing.T) {
	settled := settleAll(
		Ack{Acks: 1, DeliveredSegments: 4, AckRttUs: 60},
		Ack{Acks: 2, DeliveredSegments: 4, AckRttUs: 60}, // a duplicate: the kernel's sample is an old one
		Ack{Acks: 5, DeliveredSegments: 9, AckRttUs: 70}, // the ring had no room for two
	)
	require.EqualValues(t, noRTT, settled[0].AckRttUs)
	require.EqualValues(t, noRTT, settled[1].AckRttUs)
}
