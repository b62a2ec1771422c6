package config_test

import (
	"os"
	"testing"

	"downlink/agents/internal/config"
)

// FuzzParse looks for a configuration that makes the agent panic instead of saying what is wrong.
func FuzzParse(f *testing.F) {
	reference, err := os.ReadFile("reference.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(reference)
	f.Add([]byte("server: https://downlink.example\nname: dish\npolicy: {max_seconds: 60, quiet_hours: weekdays 18:00-23:00}\n"))
	f.Fuzz(func(_ *testing.T, content []byte) { _, _ = config.Parse(content) })
}
