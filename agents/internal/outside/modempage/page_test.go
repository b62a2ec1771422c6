package modempage_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/outside/modempage"
)

const (
	asJSON = "name: modem\nurl: URL\nformat: json\nquantities:\n" +
		"  - {quantity: modem.snr_db, unit: dB, json: rf.0.snr}\n  - {quantity: modem.locked, unit: 0 or 1, json: locked}\n" +
		"  - {quantity: modem.gone, unit: dB, json: rf.7.snr}\n"
	asText = "name: modem\nurl: URL\nformat: text\nquantities:\n  - {quantity: modem.rx_w, unit: W, pattern: 'Rx power: " +
		"*(-?[0-9.]+) *mW', factor: 0.001}\n"
)

func read(t *testing.T, text string, handler http.HandlerFunc) (map[string]float64, error) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	page, err := modempage.Parse([]byte(strings.ReplaceAll(text, "URL", server.URL)))
	require.NoError(t, err)
	found, err := modempage.NewReader(page).Read(t.Context(), time.Now())
	named := map[string]float64{}
	for _, one := range found {
		named[one.Quantity] = one.Value
	}
	return named, err
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}

func TestNumbersAreFoundInJSONAndInText(t *testing.T) {
	found, err := read(t, asJSON, says(`{"rf": [{"snr": "12.5"}], "locked": true}`))
	require.NoError(t, err)
	require.Equal(t, map[string]float64{"modem.snr_db": 12.5, "modem.locked": 1}, found, "what the page lacks is left out")
	found, err = read(t, asText, says("<td>Rx power:  250 mW</td>"))
	require.NoError(t, err)
	require.InDelta(t, 0.25, found["modem.rx_w"], 1e-9)
}

func TestOnlyThePageItselfIsReadAndOnlySoMuchOfIt(t *testing.T) {
	elsewhere := httptest.NewServer(says("Rx power: 1 mW"))
	t.Cleanup(elsewhere.Close)
	_, err := read(t, asText, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) })
	require.ErrorContains(t, err, "answered 302")
	_, err = read(t, asText, says(strings.Repeat(" ", modempage.LongestPage)+"Rx power: 1 mW"))
	require.ErrorContains(t, err, "longer than")
	_, err = read(t, asJSON, says("<html>"))
	require.ErrorContains(t, err, "not JSON")
	_, err = read(t, asText, says("nothing"))
	require.ErrorContains(t, err, "none of the numbers")
}

func TestAFileThatCannotWorkSaysWhy(t *testing.T) {
	for text, why := range map[string]string{
		strings.Replace(asText, "URL", "ftp://modem", 1):                      "whole address",
		strings.Replace(asText, "format: text", "format: xml", 1):             "neither json nor text",
		strings.Replace(asText, "(-?[0-9.]+)", "[0-9]+", 1):                   "one group",
		strings.Replace(asText, "modem.rx_w", "Power", 1):                     "modem.snr_db",
		strings.Replace(asText, "name: modem", "name: modem\npassword: x", 1): "password",
		strings.Replace(asText, "quantities", "every_s: 1\nquantities", 1):    "every_s",
		"name: modem\nurl: http://modem/\nformat: text\nquantities: []\n":     "quantities",
		strings.Replace(asJSON, "json: locked", "pattern: '(1)'", 1):          "path of the number",
	} {
		_, err := modempage.Parse([]byte(strings.ReplaceAll(text, "URL", "http://192.168.100.1/")))
		require.ErrorContains(t, err, why)
	}
}

func TestANumberThatNoNumberIsAfterItsFactorIsLeftOut(t *testing.T) {
	text := strings.Replace(asText, "0.001", "1e300", 1)
	_, err := read(t, text, says("Rx power: "+strings.Repeat("9", 40)+" mW"))
	require.ErrorContains(t, err, "none of the numbers")
}

func TestAPageIsLookedAtFromTimeToTime(t *testing.T) {
	for _, every := range []string{".nan", ".inf", "1e300"} {
		_, err := modempage.Parse([]byte("every_s: " + every + "\n" + strings.ReplaceAll(asText, "URL", "http://192.168.100.1/")))
		require.ErrorContains(t, err, "every_s")
	}
	_, err := modempage.Parse([]byte(strings.NewReplacer("URL", "http://192.168.100.1/", "0.001", ".nan").Replace(asText)))
	require.ErrorContains(t, err, "factor")
}
