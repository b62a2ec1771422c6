package config_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/testing/fuzztest"
)

// FuzzParse looks for a configuration that makes the agent panic instead of saying what is wrong.
func FuzzParse(f *testing.F) {
	reference, err := os.ReadFile("reference.yaml")
	if err != nil {
		f.Fatal(err)
	}
	short := []byte("server: https://downlink.example\nname: dish\ndata_host: 192.0.2.1\npolicy: {max_seconds: 60, quiet_hours: " +
		"[weekdays 18:00-23:00]}\n")
	_, err = config.Parse(short)
	require.NoError(f, err)
	fuzztest.Add(f, reference, short)
	f.Fuzz(func(_ *testing.T, content []byte) { _, _ = config.Parse(content) })
}
