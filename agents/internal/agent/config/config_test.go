package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"downlink/agents/internal/agent/config"
)

func TestTheReferenceIsValidAndDocumentsEveryKey(t *testing.T) {
	content, err := os.ReadFile("reference.yaml")
	require.NoError(t, err)
	_, err = config.Parse(content)
	require.NoError(t, err)
	var documented map[string]any
	require.NoError(t, yaml.Unmarshal(content, &documented))
	requireKeys(t, reflect.TypeFor[config.Config](), documented)
	policy, isMap := documented["policy"].(map[string]any)
	require.True(t, isMap)
	requireKeys(t, reflect.TypeFor[config.Policy](), policy)
}

func requireKeys(t *testing.T, structure reflect.Type, documented map[string]any) {
	t.Helper()
	for field := range structure.Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		require.Contains(t, documented, key)
	}
}

const minimal = "server: http://127.0.0.1:8000\nname: a\nroles: [receiver]\ndata_host: 127.0.0.1\n"

func TestDefaultsHoldForWhatIsLeftOut(t *testing.T) {
	got, err := config.Parse([]byte(minimal))
	require.NoError(t, err)
	require.Equal(t, config.Default().StateDir, got.StateDir)
	require.True(t, got.Policy.AllowsSetting("tcp_cubic.hystart"))
}

func TestErrorsNameTheKey(t *testing.T) {
	for _, example := range []struct{ content, want string }{
		{minimal + "colour: red\n", "colour"},
		{"name: a\nroles: [receiver]\nserver: ftp://x\n", "server"},
		{"server: http://x\nroles: [receiver]\n", "name"},
		{"server: http://x\nname: a\ndata_host: a\nroles: [router]\n", "roles[0]"},
		{"server: http://x\nname: a\nroles: [sender]\n", "data_host"},
		{minimal + "data_port: 70000\n", "data_port"},
		{minimal + "policy: {max_bytes: -1}\n", "limits"},
		{minimal + "policy: {monthly_bytes: -1}\n", "limits"},
		{minimal + "policy: {reset_day: 0}\n", "reset_day"},
		{minimal + "policy: {reset_day: 29}\n", "reset_day"},
	} {
		_, err := config.Parse([]byte(example.content))
		require.ErrorContains(t, err, example.want)
	}
}

func TestAPolicyAllowsOnlyWhatItNames(t *testing.T) {
	got, err := config.Parse([]byte(minimal + "policy: {settings: [net.ipv4.tcp_rmem]}\n"))
	require.NoError(t, err)
	require.True(t, got.Policy.AllowsSetting("net.ipv4.tcp_rmem"))
	require.False(t, got.Policy.AllowsSetting("tcp_cubic.hystart"))
}

func TestTheIdentityIsForItsOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	identity := config.Identity{AgentID: "a", Secret: "s"}
	require.NoError(t, config.SaveIdentity(dir, identity))
	got, err := config.LoadIdentity(dir)
	require.NoError(t, err)
	require.Equal(t, identity, got)
	path := filepath.Join(dir, "identity.json")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, os.Chmod(path, 0o644))
	_, err = config.LoadIdentity(dir)
	require.ErrorContains(t, err, "chmod 600")
}

func TestASavedConfigurationLoadsAgain(t *testing.T) {
	want := config.Default()
	want.Server, want.Name, want.StateDir, want.DataHost = "http://x", "a", t.TempDir(), "::1"
	path, err := want.Save()
	require.NoError(t, err)
	got, err := config.Load(path)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestTheOwnersPolicyReplacesTheKeysThatItNames(t *testing.T) {
	c := config.Default()
	c.Server, c.Name, c.DataHost = "https://downlink.example.org", "viasat-client", "203.0.113.7"
	c.Policy.MaxBytes = 5
	path := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, c.Heed(path), "no file says nothing")

	require.NoError(t, os.WriteFile(path, []byte("max_seconds: 60\nsettings: [net.ipv4.tcp_no_metrics_save]\n"), 0o600))
	require.NoError(t, c.Heed(path))
	want := config.Default().Policy
	want.MaxSeconds, want.MaxBytes, want.Settings = 60, 5, []string{"net.ipv4.tcp_no_metrics_save"}
	require.Equal(t, want, c.Policy)

	for content, why := range map[string]string{"max_second: 60": "max_second", "max_bytes: -1": "negative", "hold_days: -1": "negative",
		"upload_bps: -1": "negative", "hold_days: .nan": "hold_days", "max_seconds: .inf": "max_seconds"} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		heeded := c
		require.ErrorContains(t, heeded.Heed(path), why)
	}
}

func TestThePackagesPolicySaysNothingUntilALineIsFreed(t *testing.T) {
	const shipped = "../../../packaging/policy.yaml"
	c := config.Default()
	c.Server, c.Name, c.DataHost = "https://downlink.example.org", "viasat-client", "203.0.113.7"
	before := c
	require.NoError(t, c.Heed(shipped))
	require.Equal(t, before, c)

	content, err := os.ReadFile(shipped)
	require.NoError(t, err)
	keys := map[string]any{}
	for line := range strings.Lines(string(content)) {
		if key, isKey := strings.CutPrefix(line, "#"); isKey && !strings.HasPrefix(key, " ") {
			require.NoError(t, yaml.Unmarshal([]byte(key), &keys))
		}
	}
	policy := reflect.TypeFor[config.Policy]()
	for field := range policy.Fields() {
		require.Contains(t, keys, strings.Split(field.Tag.Get("yaml"), ",")[0])
	}
	require.Len(t, keys, policy.NumField())
}

// TestAnIntervalIsANumber: with .nan, which passes every comparison, a dish was asked without a pause.
func TestAnIntervalIsANumber(t *testing.T) {
	_, err := config.Parse([]byte("server: https://downlink.example\nname: dish\ndata_host: 192.0.2.1\nobserve: {every_s: .nan}\n"))
	require.ErrorContains(t, err, "every_s")
}
