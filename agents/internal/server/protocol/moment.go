package protocol

import (
	"encoding/json"
	"fmt"
	"time"
)

const momentLayout = "2006-01-02T15:04:05.000000Z"

// Moment is a UTC moment that travels with microseconds.
type Moment struct{ time.Time }

// MarshalJSON writes the moment in UTC with six decimals.
func (m Moment) MarshalJSON() ([]byte, error) {
	return json.Marshal(m.UTC().Format(momentLayout))
}

// UnmarshalJSON accepts any RFC 3339 moment.
func (m *Moment) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	parsed, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return fmt.Errorf("read moment: %w", err)
	}
	m.Time = parsed.UTC()
	return nil
}
