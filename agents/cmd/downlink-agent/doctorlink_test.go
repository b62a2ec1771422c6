package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/agent/volume"
	"downlink/agents/internal/testing/dishtest"
)

func TestTheDoctorReadsTheMonth(t *testing.T) {
	c := sending("127.0.0.1")
	c.StateDir = t.TempDir()
	now := time.Date(2026, 11, 25, 3, 0, 0, 0, time.Local)
	requireGood(t, checkMonth(c, now))

	c.Policy.MonthlyBytes, c.Policy.ResetDay = 50e9, 20
	settle, err := volume.Open(c.StateDir, 50e9, 20).Meter(now, func() int64 { return 12e9 })
	require.NoError(t, err)
	require.NoError(t, settle())
	found := checkMonth(c, now)
	requireGood(t, found)
	require.Equal(t, "12000 of 50000 MB of this month are used (monthly_bytes); the next one begins on 2026-12-20.", found.sentence)

	c.Policy.MonthlyBytes = 12e9
	requireBad(t, checkMonth(c, now), "12000 of 12000 MB", "no run is taken until 2026-12-20", "raise monthly_bytes")
	c.Policy.MonthlyBytes = 50e9
	path := filepath.Join(c.StateDir, volume.FileName)
	require.NoError(t, os.WriteFile(path, []byte(`{"from": "2026-11-20", "bytes": -1}`), 0o600))
	requireBad(t, checkMonth(c, now), "counts as used up", path, "correct it")
}

func TestTheDoctorAsksTheDish(t *testing.T) {
	requireGood(t, checkObserved(t.Context(), config.Observe{})[0])
	d := dishtest.Start(t, map[string]string{
		"get_status":  `{"dish_get_status": {"obstruction_stats": {"fraction_obstructed": 0.25}, "pop_ping_latency_ms": 31.5}}`,
		"get_history": `{"dish_get_history": {}}`,
	})
	findings := checkObserved(t.Context(), config.Observe{Dish: d.Address})
	require.Len(t, findings, 1)
	requireGood(t, findings[0])
	require.Contains(t, findings[0].sentence, "dish.obstruction_ratio 0.25 ratio")
	require.NotContains(t, d.Asked, "reboot")

	delete(d.Answers, "get_history")
	requireBad(t, checkDish(t.Context(), d.Address), "answers in part", "dish.ping_latency_ms 31.5 ms", "firmware")
	delete(d.Answers, "get_status")
	requireBad(t, checkDish(t.Context(), d.Address), "does not answer", "Check observe.dish", "no firewall")
	requireBad(t, checkDish(t.Context(), "127.0.0.1:1"), "The dish at 127.0.0.1:1 does not answer", "192.168.100.1:9200")
}

func TestTheDoctorReadsModemPages(t *testing.T) {
	says, status := `{"rf": {"snr": "12.5", "level": -61}}`, http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(says))
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "modem.yaml")
	write := func(text string) {
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, "URL", server.URL)), 0o600))
	}
	const file = "name: modem\nurl: URL\nformat: json\nquantities:\n" +
		"  - {quantity: modem.snr_db, unit: dB, json: rf.snr}\n  - {quantity: modem.level_dbm, unit: dBm, json: rf.level}\n"
	write(file)
	findings := checkObserved(t.Context(), config.Observe{ModemPages: []string{path, path + ".gone"}})
	require.Len(t, findings, 2)
	requireGood(t, findings[0])
	require.Equal(t, "The modem page modem answers: modem.snr_db 12.5 dB, modem.level_dbm -61 dBm.", findings[0].sentence)
	requireBad(t, findings[1], "no such file", "correct the file")

	says = `{"rf": {"snr": "12.5", "level": "low"}}`
	requireBad(t, checkPage(t.Context(), path), "modem.level_dbm are not on it, or are no numbers", "modem.snr_db 12.5 dB", path)
	says = "<html>sign in</html>"
	requireBad(t, checkPage(t.Context(), path), "not JSON", server.URL, path)
	status = http.StatusUnauthorized
	requireBad(t, checkPage(t.Context(), path), "answered 401", "Open "+server.URL)
	write("name: modem\nurl: URL\n")
	requireBad(t, checkPage(t.Context(), path), "format", "does not start with it")
	server.Close()
	write(file)
	requireBad(t, checkPage(t.Context(), path), "connection refused", "in a browser")
}
