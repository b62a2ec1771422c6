package dish

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"downlink/agents/internal/outside/observe"
)

// Source is who reported it.
const Source = "dish"

// quantity is one number of a status: where it is and what it is called here.
type quantity struct{ path, name, unit string }

// fromStatus lists what is read. A dish says some of it, by its firmware.
var fromStatus = []quantity{
	{"obstruction_stats.fraction_obstructed", "dish.obstruction_ratio", "ratio"},
	{"obstruction_stats.currently_obstructed", "dish.currently_obstructed", "0 or 1"},
	{"snr", "dish.snr", "dB"},
	{"is_snr_above_noise_floor", "dish.snr_above_noise_floor", "0 or 1"},
	{"pop_ping_latency_ms", pingLatency, "ms"},
	{"pop_ping_drop_rate", pingDrops, "ratio"},
	{"downlink_throughput_bps", "dish.downlink_bps", "bit/s"},
	{"uplink_throughput_bps", "dish.uplink_bps", "bit/s"},
	{"boresight_azimuth_deg", azimuth, "deg"},
	{"boresight_elevation_deg", elevation, "deg"},
	{"device_state.uptime_s", "dish.uptime_s", "s"},
}

// neverZero are the quantities of which a dish has no zero: a field without presence that a firmware no longer fills
// reads as 0, and is absent. Latency left the status in November 2024, the SNR long before. A latency below 0 is none either.
var neverZero = []string{"dish.snr", pingLatency, elevation, "dish.uptime_s"}

const (
	pingLatency = "dish.ping_latency_ms"
	pingDrops   = "dish.ping_drop_ratio"
	azimuth     = "dish.azimuth_deg"
	elevation   = "dish.elevation_deg"
)

// Reader turns what a dish says into observations; each outage is reported once.
type Reader struct {
	dish       *Dish
	seconds    uint64
	lastOutage int64
}

// NewReader reads this dish.
func NewReader(d *Dish) *Reader { return &Reader{dish: d} }

// Read asks for status and history. The result is returned also where one of both failed.
func (r *Reader) Read(ctx context.Context, now time.Time) ([]observe.Observation, error) {
	status, statusErr := r.dish.ask(ctx, "get_status", "dish_get_status")
	var found []observe.Observation
	if statusErr == nil {
		found = readStatus(status, now)
	}
	history, historyErr := r.dish.ask(ctx, "get_history", "dish_get_history")
	if historyErr == nil {
		found = append(found, r.readHistory(history, now)...)
	}
	return found, errors.Join(statusErr, historyErr)
}

func readStatus(status protoreflect.Message, now time.Time) []observe.Observation {
	var found []observe.Observation
	for _, each := range fromStatus {
		value, known := number(status, each.path)
		if known && !isAbsent(each.name, value) {
			found = append(found, observe.Observation{Quantity: each.name, Unit: each.unit, Source: Source, At: now, Value: value})
		}
	}
	return withoutHalves(found)
}

func isAbsent(name string, value float64) bool {
	return value == 0 && slices.Contains(neverZero, name) || value < 0 && name == pingLatency
}

// withoutHalves leaves out what means nothing without the other half. Where every ping was lost the latency is an older one;
// where there is no latency, no lost ping was not said either, and where there is no elevation, no azimuth of 0 was.
func withoutHalves(found []observe.Observation) []observe.Observation {
	if drops, known := valueOf(found, pingDrops); known && drops >= 1 {
		found = slices.DeleteFunc(found, func(o observe.Observation) bool { return o.Quantity == pingLatency })
	}
	_, hasLatency := valueOf(found, pingLatency)
	_, hasElevation := valueOf(found, elevation)
	return slices.DeleteFunc(found, func(o observe.Observation) bool {
		return o.Value == 0 && (o.Quantity == pingDrops && !hasLatency || o.Quantity == azimuth && !hasElevation)
	})
}

func valueOf(found []observe.Observation, quantity string) (float64, bool) {
	at := slices.IndexFunc(found, func(o observe.Observation) bool { return o.Quantity == quantity })
	if at < 0 {
		return 0, false
	}
	return found[at].Value, true
}

// readHistory replaces the two numbers that a status has of one second by their means over the seconds since the last look.
func (r *Reader) readHistory(history protoreflect.Message, now time.Time) []observe.Observation {
	var found []observe.Observation
	if current, known := number(history, "current"); known && current >= 0 {
		count := uint64(current)
		if r.seconds > 0 && count > r.seconds {
			middle := now.Add(-time.Duration(count-r.seconds) * time.Second / 2)
			answered := func(second uint64) bool {
				latency, _ := secondOfRing(history, "pop_ping_latency_ms", second)
				lost, known := secondOfRing(history, "pop_ping_drop_rate", second)
				return !isAbsent(pingLatency, latency) && (!known || lost < 1)
			}
			for _, each := range []struct {
				quantity
				counts func(second uint64) bool
			}{
				{quantity{"pop_ping_drop_rate", pingDrops, "ratio"}, func(uint64) bool { return true }},
				{quantity{"pop_ping_latency_ms", pingLatency, "ms"}, answered},
			} {
				if mean, some := meanOfRing(history, each.path, r.seconds, count, each.counts); some {
					found = append(found, observe.Observation{Quantity: each.name, Unit: each.unit, Source: Source + " history", At: middle, Value: mean})
				}
			}
		}
		r.seconds = count
	}
	found = withoutHalves(found)
	return append(found, r.readOutages(history, now)...)
}

// meanOfRing takes those of the seconds from, to that count, of a ring that holds the last ones. In a second in which
// every ping was lost the ring repeats an older latency; 0 is none.
func meanOfRing(history protoreflect.Message, name string, from, to uint64, counts func(second uint64) bool) (float64, bool) {
	sum, count := 0.0, 0
	for second := max(from, to-min(to, ringSize(history, name))); second < to; second++ {
		if value, known := secondOfRing(history, name, second); known && counts(second) {
			sum, count = sum+value, count+1
		}
	}
	return sum / float64(max(count, 1)), count > 0
}

func ringSize(history protoreflect.Message, name string) uint64 {
	field := history.Descriptor().Fields().ByName(protoreflect.Name(name))
	if field == nil || !field.IsList() || field.Message() != nil {
		return 0
	}
	return uint64(history.Get(field).List().Len())
}

func secondOfRing(history protoreflect.Message, name string, second uint64) (float64, bool) {
	size := ringSize(history, name)
	if size == 0 {
		return 0, false
	}
	field := history.Descriptor().Fields().ByName(protoreflect.Name(name))
	return plain(history.Get(field).List().Get(int(second % size)))
}

func (r *Reader) readOutages(history protoreflect.Message, now time.Time) []observe.Observation {
	field := history.Descriptor().Fields().ByName("outages")
	if field == nil || !field.IsList() || field.Message() == nil {
		return nil
	}
	var found []observe.Observation
	list, last := history.Get(field).List(), r.lastOutage
	for place := range list.Len() {
		start, hasStart := number(list.Get(place).Message(), "start_timestamp_ns")
		length, hasLength := number(list.Get(place).Message(), "duration_ns")
		if !hasStart || !hasLength || int64(start) <= r.lastOutage {
			continue
		}
		if at, known := momentOf(int64(start), now); known {
			last = max(last, int64(start))
			found = append(found, observe.Observation{Quantity: "dish.outage_s", Unit: "s", Source: Source, At: at, Value: length / 1e9})
		}
	}
	r.lastOutage = last
	return found
}

// gpsEpoch and gpsAhead: GPS counts from 1980-01-06 and knows no leap seconds, of which there have been 18 since.
var gpsEpoch = time.Date(1980, time.January, 6, 0, 0, 0, 0, time.UTC)

const (
	gpsAhead = 18 * time.Second
	// oldest is more than a history holds.
	oldest = 24 * time.Hour
)

// momentOf reads nanoseconds in GPS time, or else since 1970: whichever is in the last day.
func momentOf(ns int64, now time.Time) (time.Time, bool) {
	for _, at := range []time.Time{gpsEpoch.Add(time.Duration(ns) - gpsAhead), time.Unix(0, ns)} {
		if at.After(now.Add(-oldest)) && at.Before(now.Add(time.Minute)) {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// number finds a field by its path. What the message does not have, or has as something else, is unknown. A number that
// equals its type's zero is not sent by the dish where the field has no presence: zero is then what it says.
func number(message protoreflect.Message, path string) (float64, bool) {
	names := strings.Split(path, ".")
	for i, name := range names {
		field := message.Descriptor().Fields().ByName(protoreflect.Name(name))
		if field == nil || field.IsList() || field.IsMap() {
			return 0, false
		}
		if i == len(names)-1 {
			if field.HasPresence() && !message.Has(field) {
				return 0, false
			}
			return plain(message.Get(field))
		}
		if field.Message() == nil || !message.Has(field) {
			return 0, false
		}
		message = message.Get(field).Message()
	}
	return 0, false
}

func plain(value protoreflect.Value) (float64, bool) {
	var number float64
	switch is := value.Interface().(type) {
	case bool:
		if is {
			number = 1
		}
	case int32:
		number = float64(is)
	case int64:
		number = float64(is)
	case uint32:
		number = float64(is)
	case uint64:
		number = float64(is)
	case float32:
		number = float64(is)
	case float64:
		number = is
	default:
		return 0, false
	}
	return number, !math.IsNaN(number) && !math.IsInf(number, 0)
}
