package calibration

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/tcpmodel"
)

// Beginning is what the first seconds of one flow with HyStart look like to its sender, however it was recorded.
type Beginning struct {
	Coherence, AcksAFrame, InitialSpreadMs, BurstWidthMs, GrantsBeginS float64
	AcksASecond                                                        []float64 // of a burst, by second
	RttsMs                                                             []float64 // of the first 30 acknowledgements
	ToOneMbS, ToFiveMbS                                                float64   // from the first acknowledgement
}

const (
	shownSeconds = 10
	shownRtts    = 30
)

// ReadAcks reads a recorded flow: CSV with the columns now_us, bytes_acked and rtt_us, a line for each acknowledgement. With
// snd_una and snd_nxt besides it is known what had been sent before each.
func ReadAcks(from io.Reader) (acks []tcpmodel.Ack, err error) {
	reader := csv.NewReader(from)
	header, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("read the trace's header: %w", err)
	}
	columns := map[string]int{}
	for _, name := range []string{"now_us", "bytes_acked", "rtt_us"} {
		if columns[name] = slices.Index(header, name); columns[name] < 0 {
			return nil, fmt.Errorf("the trace has no column %s", name)
		}
	}
	una, nxt := slices.Index(header, "snd_una"), slices.Index(header, "snd_nxt")
	for {
		line, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return acks, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the trace: %w", err)
		}
		ack, err := readAck(line, columns)
		if err != nil {
			return nil, err
		}
		if una >= 0 && nxt >= 0 {
			inFlight, err := inFlight(line[una], line[nxt])
			if err != nil {
				return nil, err
			}
			ack.SentBytes = ack.Bytes + inFlight
		}
		acks = append(acks, ack)
	}
}

// inFlight is the difference of two sequence numbers, which wrap around.
func inFlight(una, nxt string) (int64, error) {
	from, err := strconv.ParseUint(una, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("snd_una of the trace: %w", err)
	}
	to, err := strconv.ParseUint(nxt, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("snd_nxt of the trace: %w", err)
	}
	return int64(uint32(to) - uint32(from)), nil
}

func readAck(line []string, columns map[string]int) (ack tcpmodel.Ack, err error) {
	var values [3]int64
	for i, name := range []string{"now_us", "bytes_acked", "rtt_us"} {
		if values[i], err = strconv.ParseInt(line[columns[name]], 10, 64); err != nil {
			return ack, fmt.Errorf("%s of the trace: %w", name, err)
		}
	}
	return tcpmodel.Ack{At: time.Duration(values[0]) * time.Microsecond, Bytes: values[1], Rtt: time.Duration(values[2]) * time.Microsecond},
		nil
}

// Begin runs one flow with HyStart over a profile.
func Begin(profile emulate.Profile, windowBytes int64) []tcpmodel.Ack {
	return tcpmodel.Run(emulate.New(profile, profile.Seed), tcpmodel.Options{
		Bytes: 6 * mb, WindowBytes: windowBytes, HasHyStart: true, StartAt: apart, Until: time.Minute,
	}).Acks
}

// Describe says what a flow's acknowledgements look like behind frames of 40 ms, with segments of so many bytes.
func Describe(acks []tcpmodel.Ack, segmentBytes int64) Beginning {
	all := bursts(acks)
	b := Beginning{
		Coherence: coherenceAt(usualFrame, all), AcksAFrame: acksABurst(all), InitialSpreadMs: spreadOf(acks, 10*segmentBytes),
		BurstWidthMs: quantile(smallWidths(all), 0.9), GrantsBeginS: firstGroup(all), ToOneMbS: timeTo(acks, 1*mb), ToFiveMbS: timeTo(acks, 5*mb),
	}
	for second := range shownSeconds {
		b.AcksASecond = append(b.AcksASecond, acksIn(all, time.Duration(second)*time.Second))
	}
	for _, ack := range acks[:min(shownRtts, len(acks))] {
		b.RttsMs = append(b.RttsMs, milliseconds(ack.Rtt))
	}
	return b
}

// acksIn is the mean number of acknowledgements in the bursts of a second.
func acksIn(all []burst, from time.Duration) float64 {
	acks, n := 0, 0
	for _, b := range all {
		if b.from >= from && b.from < from+time.Second {
			acks, n = acks+b.acks, n+1
		}
	}
	return float64(acks) / float64(n)
}

func timeTo(acks []tcpmodel.Ack, bytes int64) float64 {
	for _, ack := range acks {
		if ack.Bytes >= bytes {
			return (ack.At - acks[0].At).Seconds()
		}
	}
	return math.NaN()
}
