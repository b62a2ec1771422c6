package emulate

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const ackBytes = 60

// framedLine carries one acknowledgement a frame of 40 ms unasked; 60 bytes take 48 us.
func framedLine(grantDelayFrames int, holdS float64) *Line {
	f := Frames{LengthMs: 40, BaseBytes: ackBytes, MostBytes: 6000, GrantDelayFrames: grantDelayFrames, HoldS: holdS}
	return NewLine(newFrames(f, constantRate(10e6), constantRate(10e6), 1e6))
}

// bursts counts packets by the frame in which they left.
func bursts(fates []departure, length time.Duration) map[int]int {
	found := map[int]int{}
	for _, d := range fates {
		found[int(d.at/length)]++
	}
	return found
}

func TestTheInitialWindowsAcknowledgementsComeOneAFrame(t *testing.T) {
	fates := simulate(t, framedLine(25, 2.8), every(0, 10, ackBytes))
	for i, d := range fates {
		require.Equal(t, time.Duration(i+1)*40*ms+48*time.Microsecond, d.at)
	}
	require.Equal(t, 360*ms, fates[9].at-fates[0].at)
}

func TestAPacketWaitsForTheNextFrame(t *testing.T) {
	for _, c := range []struct{ at, left time.Duration }{{0, 40}, {1, 40}, {39, 40}, {40, 80}, {1000, 1040}, {1001, 1040}} {
		fates := simulate(t, framedLine(25, 0), []arrival{{c.at * ms, ackBytes}})
		require.Equal(t, c.left*ms+48*time.Microsecond, fates[0].at, "at %d ms", c.at)
	}
}

func TestWhatWaitedIsGrantedLater(t *testing.T) {
	// 20 packets come before frame 1; it carries one, and asks for the 20 that waited. They are granted in frame 1 + 3.
	fates := simulate(t, framedLine(3, 0), every(0, 20, ackBytes))
	require.Equal(t, map[int]int{1: 1, 2: 1, 3: 1, 4: 17}, bursts(fates, 40*ms))
	first := fates[3].at
	require.Equal(t, 4*40*ms+48*time.Microsecond, first)
	require.Equal(t, first+16*48*time.Microsecond, fates[19].at, "a burst leaves at the channel's rate")
}

func TestNothingIsGrantedDuringTheHold(t *testing.T) {
	fates := simulate(t, framedLine(3, 0.5), every(0, 60, ackBytes))
	found := bursts(fates, 40*ms)
	for frame := 1; frame <= 12; frame++ {
		require.Equal(t, 1, found[frame], "frame %d begins at %d ms", frame, 40*frame)
	}
	require.Equal(t, 48, found[13], "520 ms after the first packet")
}

func TestASilenceBeginsTheHoldAnew(t *testing.T) {
	burst := func(at time.Duration) (arrivals []arrival) {
		for range 10 {
			arrivals = append(arrivals, arrival{at, ackBytes})
		}
		return arrivals
	}
	left := func(second time.Duration) map[int]int {
		return bursts(simulate(t, framedLine(3, 0.3), append(burst(0), burst(second)...)), 40*ms)
	}
	require.Equal(t, 13, left(0)[8], "320 ms after the beginning what waits is granted; 7 were carried before")
	// The first burst is through in frame 8. Frames 9, 10 and 11 begin with nothing to carry.
	require.Equal(t, 7, left(440 * ms)[15], "less than three silent frames: the demand goes on, three frames after it is asked for")
	require.Equal(t, 1, left(520 * ms)[16], "after a silence the hold starts again")
}

func TestAFrameCarriesNoMoreThanItsMost(t *testing.T) {
	f := Frames{LengthMs: 40, BaseBytes: 60, MostBytes: 300, GrantDelayFrames: 1}
	found := bursts(simulate(t, NewLine(newFrames(f, constantRate(10e6), constantRate(10e6), 1e6)), every(0, 21, ackBytes)), 40*ms)
	require.Equal(t, map[int]int{1: 1, 2: 5, 3: 5, 4: 5, 5: 5}, found)
}

// With requests over five frames a terminal asks for a fifth of what waits, and for the mean rate of five frames beyond its own
// share. Twenty packets that come before frame 1: (20 + 20) / 5 packets in frame 1 + 3, (19 + 19) / 5 in the next one.
func TestATerminalAsksForARateAndAShareOfWhatWaits(t *testing.T) {
	f := Frames{LengthMs: 40, BaseBytes: ackBytes, MostBytes: 6000, GrantDelayFrames: 3, RequestFrames: 5}
	line := func() *Line { return NewLine(newFrames(f, constantRate(10e6), constantRate(10e6), 1e6)) }
	found := bursts(simulate(t, line(), every(0, 20, ackBytes)), 40*ms)
	require.Equal(t, map[int]int{1: 1, 2: 1, 3: 1, 4: 1 + 8, 5: 1 + 7}, found)

	again := bursts(simulate(t, line(), append(every(0, 20, ackBytes), shifted(every(0, 20, ackBytes), 40*400*ms)...)), 40*ms)
	for frame, packets := range found {
		require.Equal(t, packets, again[frame+400], "a long silence is forgotten")
	}
}

// A steady rate is granted as such: nothing waits for more than the next frame, where requests without it would let so much
// wait that a share of it is enough.
func TestASteadyRateIsGranted(t *testing.T) {
	f := Frames{LengthMs: 40, BaseBytes: ackBytes, MostBytes: 60_000, GrantDelayFrames: 3, RequestFrames: 5}
	var arrivals []arrival
	for at := time.Duration(0); at < 20*time.Second; at += 4 * ms {
		arrivals = append(arrivals, arrival{at, ackBytes})
	}
	fates := simulate(t, NewLine(newFrames(f, constantRate(10e6), constantRate(10e6), 1e6)), arrivals)
	for i, d := range fates {
		if arrivals[i].at > 10*time.Second {
			require.Less(t, d.at-arrivals[i].at, 2*40*ms)
		}
	}
}

func TestALargePacketTakesSeveralFrames(t *testing.T) {
	fates := simulate(t, framedLine(10_000, 0), []arrival{{0, 150}, {0, 30}})
	require.Equal(t, 3*40*ms+24*time.Microsecond, fates[0].at, "60 + 60 + 30 bytes")
	require.Equal(t, 3*40*ms+48*time.Microsecond, fates[1].at, "the rest of the third frame")
}

func TestAPacketOfAFramesShareIsNotSplit(t *testing.T) {
	f := Frames{LengthMs: 40, BaseBytes: 100, MostBytes: 6000, GrantDelayFrames: 10_000}
	fates := simulate(t, NewLine(newFrames(f, constantRate(10e6), constantRate(10e6), 1e6)), []arrival{{0, 60}, {0, 60}, {0, 40}, {0, 100}})
	require.Equal(t, map[int]int{1: 1, 2: 2, 3: 1}, bursts(fates, 40*ms))
}

func TestAFramedChannelHasRoomForSoManyBytes(t *testing.T) {
	f := Frames{LengthMs: 40, BaseBytes: 60, MostBytes: 60, GrantDelayFrames: 1}
	fates := simulate(t, NewLine(newFrames(f, constantRate(10e6), constantRate(10e6), 300)), every(0, 8, ackBytes))
	require.Equal(t, 3, countLost(fates, QueueFull))
}

// ack is a pure acknowledgement over IPv4 or IPv6 with the usual timestamps.
func ack(isSix bool, number uint32, change func(segment []byte)) []byte {
	segment := make([]byte, 32)
	binary.BigEndian.PutUint32(segment[8:], number)
	segment[12], segment[13] = 8<<4, flagACK
	copy(segment[20:], []byte{optionPad, optionPad, 8, 10})
	if change != nil {
		change(segment)
	}
	if isSix {
		header := make([]byte, 40)
		header[0], header[6] = 6<<4, protocolTCP
		return append(header, segment...)
	}
	header := make([]byte, 20)
	header[0], header[9] = 4<<4|5, protocolTCP
	binary.BigEndian.PutUint16(header[2:], 52)
	return append(header, segment...)
}

func TestALaterAcknowledgementMakesTheWaitingOneNeedless(t *testing.T) {
	thinned := func(packets ...[]byte) (lost int, conserved Counts) {
		f := Frames{LengthMs: 40, BaseBytes: 60, MostBytes: 60, GrantDelayFrames: 1, ThinsAcks: true}
		line := NewLine(newFrames(f, constantRate(10e6), constantRate(10e6), 1e6))
		for _, data := range packets {
			line.Step(0, &Packet{Data: data, SizeBytes: len(data)}, nil)
		}
		line.Step(Never-1, nil, nil)
		return int(line.Counts().Lost[Thinned]), line.Counts()
	}
	for _, isSix := range []bool{false, true} {
		lost, counts := thinned(ack(isSix, 1000, nil), ack(isSix, 2000, nil), ack(isSix, 3000, nil))
		require.Equal(t, 2, lost)
		require.EqualValues(t, 1, counts.Delivered)
		requireConserved(t, counts)
		for what, other := range map[string][]byte{
			"a duplicate":              ack(isSix, 1000, nil),
			"an older one":             ack(isSix, 999, nil),
			"one of another flow":      ack(isSix, 2000, func(s []byte) { s[1] = 7 }),
			"one with a SACK":          ack(isSix, 2000, func(s []byte) { copy(s[20:], []byte{optionSACK, 10}) }),
			"one with a FIN":           ack(isSix, 2000, func(s []byte) { s[13] |= 1 }),
			"one with ECN's echo":      ack(isSix, 2000, func(s []byte) { s[13] |= 0x40 }),
			"one with broken options":  ack(isSix, 2000, func(s []byte) { copy(s[20:], []byte{8, 99}) }),
			"one with data":            append(ack(isSix, 2000, nil), 1),
			"something that is no TCP": {4 << 4},
		} {
			lost, _ := thinned(ack(isSix, 1000, nil), other)
			require.Zero(t, lost, what)
		}
	}
	lost, _ := thinned(ack(false, 1<<32-1, nil), ack(false, 5, nil))
	require.Equal(t, 1, lost, "numbers wrap around")
}

func TestWhatIsPartlyOnItsWayIsNotThinned(t *testing.T) {
	f := Frames{LengthMs: 40, BaseBytes: 30, MostBytes: 30, GrantDelayFrames: 1, ThinsAcks: true}
	line := NewLine(newFrames(f, constantRate(10e6), constantRate(10e6), 1e6))
	for i, at := range []time.Duration{0, 50 * ms} {
		data := ack(false, uint32(1000*(i+1)), nil)
		line.Step(at, &Packet{Data: data, SizeBytes: len(data)}, nil)
	}
	require.Zero(t, line.Counts().Lost[Thinned])
}
