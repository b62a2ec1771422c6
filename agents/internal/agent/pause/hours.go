package pause

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Hours are hours on some days of the week, by the host's own clock. They are written as in campaign files:
// `weekdays 18:00-23:00`, `daily 22:00-06:00`, `sat,sun 00:00-24:00`. The days are those on which they begin.
type Hours struct {
	text   string
	days   []time.Weekday
	begins int // minutes of the day
	ends   int // minutes of the day; up to begins they are of the next one
}

const (
	dayMinutes = 24 * 60
	example    = `such as "weekdays 18:00-23:00", "daily 22:00-06:00" or "sat,sun 00:00-24:00"`
)

var (
	form  = regexp.MustCompile(`^(\S+) (\d\d):(\d\d)-(\d\d):(\d\d)$`)
	names = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} // as time.Weekday counts
)

// ParseHours says what is wrong with a text that names no hours.
func ParseHours(text string) (Hours, error) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	found := form.FindStringSubmatch(text)
	if found == nil {
		return Hours{}, fmt.Errorf("must be days and hours, %s, not %q", example, text)
	}
	days, err := parseDays(found[1])
	if err != nil {
		return Hours{}, err
	}
	begins, beginsOK := minute(found[2], found[3], dayMinutes-1)
	ends, endsOK := minute(found[4], found[5], dayMinutes)
	switch {
	case !beginsOK || !endsOK:
		return Hours{}, fmt.Errorf("%q has a time that no clock shows", text)
	case begins == ends:
		return Hours{}, fmt.Errorf("%q begins and ends at the same time; write 00:00-24:00 for the whole day", text)
	}
	return Hours{text: text, days: days, begins: begins, ends: ends}, nil
}

func parseDays(text string) ([]time.Weekday, error) {
	switch text {
	case "daily":
		return []time.Weekday{0, 1, 2, 3, 4, 5, 6}, nil
	case "weekdays":
		return []time.Weekday{1, 2, 3, 4, 5}, nil
	case "weekends":
		return []time.Weekday{6, 0}, nil
	}
	var days []time.Weekday
	for name := range strings.SplitSeq(text, ",") {
		day := slices.Index(names, name)
		if day < 0 {
			return nil, fmt.Errorf("%q is no day; use daily, weekdays, weekends or mon,tue,…", name)
		}
		days = append(days, time.Weekday(day))
	}
	return days, nil
}

func minute(hour, rest string, most int) (int, bool) {
	h, _ := strconv.Atoi(hour) // two digits, by the form
	m, _ := strconv.Atoi(rest)
	return h*60 + m, m < 60 && h*60+m <= most
}

// Contains tells whether the clock of t's location shows one of these hours at t.
func (h Hours) Contains(t time.Time) bool {
	now := t.Hour()*60 + t.Minute()
	if h.begins < h.ends {
		return slices.Contains(h.days, t.Weekday()) && h.begins <= now && now < h.ends
	}
	yesterday := (t.Weekday() + 6) % 7
	return slices.Contains(h.days, t.Weekday()) && h.begins <= now || slices.Contains(h.days, yesterday) && now < h.ends
}

// ContainsAny tells whether one of the minutes from t on, over this time, is among these hours.
func (h Hours) ContainsAny(t time.Time, span time.Duration) bool {
	for at := t; at.Before(t.Add(span)); at = at.Add(time.Minute) {
		if h.Contains(at) {
			return true
		}
	}
	return h.Contains(t.Add(span))
}

// EndAfter is when the first of these hours from t on are over, to the minute.
func (h Hours) EndAfter(t time.Time) time.Time {
	at := t.Truncate(time.Minute)
	last := at.AddDate(0, 0, 2*7) // every week has some; two clock changes cannot hide them all
	for at.Before(last) && !h.Contains(at) {
		at = at.Add(time.Minute)
	}
	for at.Before(last) && h.Contains(at) {
		at = at.Add(time.Minute)
	}
	return at
}

// String is the text that it was parsed from, without superfluous blanks.
func (h Hours) String() string { return h.text }

// UnmarshalText makes Hours a value of configuration files.
func (h *Hours) UnmarshalText(text []byte) (err error) {
	*h, err = ParseHours(string(text))
	return err
}

// MarshalText writes the text back.
func (h Hours) MarshalText() ([]byte, error) { return []byte(h.text), nil }
