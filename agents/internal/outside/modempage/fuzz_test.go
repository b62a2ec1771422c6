package modempage

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/testing/fuzztest"
)

const (
	ofJSON = "name: modem\nurl: http://192.168.100.1/\nevery_s: 30\nformat: json\nquantities:\n" +
		"  - {quantity: modem.snr_db, unit: dB, json: rf.0.snr, factor: 10}\n  - {quantity: modem.locked, unit: 0 or 1, json: locked}\n"
	ofText = "name: modem\nurl: http://192.168.100.1/\nformat: text\nquantities:\n  - {quantity: modem.rx_w, unit: W, pattern: 'Rx power: " +
		"*(-?[0-9.e+]+) *mW', factor: 1e3}\n"
)

// FuzzParse looks for a file that makes the agent panic, or that gives a page which cannot be looked at from time to time.
func FuzzParse(f *testing.F) {
	fuzztest.Add(f, []byte(ofJSON), []byte(ofText))
	f.Fuzz(func(t *testing.T, content []byte) {
		page, err := Parse(content)
		if err != nil {
			return
		}
		require.GreaterOrEqual(t, time.Duration(page.EveryS*float64(time.Second)), leastEveryS*time.Second)
		_, _ = page.numbers([]byte(`{"rf": [{"snr": 12.5}], "locked": true}`), time.Now())
	})
}

// FuzzPage looks for a modem's page that makes the agent panic, or that gives a number which cannot be sent.
func FuzzPage(f *testing.F) {
	var pages []*Page
	for _, text := range []string{ofJSON, ofText} {
		page, err := Parse([]byte(text))
		require.NoError(f, err)
		pages = append(pages, page)
	}
	fuzztest.Add(f, []byte(`{"rf": [{"snr": "12.5"}], "locked": true}`), []byte("<td>Rx power:  250 mW</td>"))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, page := range pages {
			found, err := page.numbers(content, time.Now())
			require.Equal(t, err == nil, len(found) > 0)
			_, err = json.Marshal(found)
			require.NoError(t, err)
		}
	})
}
