package pause_test

import (
	"testing"
	"time"

	"downlink/agents/internal/agent/pause"
)

// FuzzParseHours looks for hours that make the agent panic, when they are read or when they are asked.
func FuzzParseHours(f *testing.F) {
	for _, text := range []string{"weekdays 18:00-23:00", "daily 22:00-06:00", "mon,wed 00:00-24:00", "", "weekend 1:00"} {
		f.Add(text)
	}
	at := time.Date(2028, 2, 29, 23, 59, 59, 0, time.UTC)
	f.Fuzz(func(_ *testing.T, text string) {
		hours, err := pause.ParseHours(text)
		if err == nil {
			_ = hours.ContainsAny(at, 3*time.Hour)
			_ = hours.EndAfter(at)
		}
	})
}
