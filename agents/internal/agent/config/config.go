package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"downlink/agents/internal/agent/pause"
	"downlink/agents/internal/host/diskfile"
)

// Config is a valid configuration with every default applied.
type Config struct {
	Server         string   `yaml:"server"`
	Name           string   `yaml:"name"`
	StateDir       string   `yaml:"state_dir"`
	Roles          []string `yaml:"roles"`
	DataHost       string   `yaml:"data_host"`
	DataPort       int      `yaml:"data_port"`
	SeparateUplink bool     `yaml:"separate_uplink"`
	CAFile         string   `yaml:"ca_file,omitempty"`
	// Proxy is an HTTP proxy on the way to the server; empty: the environment may name one.
	Proxy         string `yaml:"proxy,omitempty"`
	LockDir       string `yaml:"lock_dir"`
	SpoolMaxBytes int64  `yaml:"spool_max_bytes"`
	// LinkControl is the control socket of the emulated link that this agent's data path crosses; empty for real links.
	LinkControl string `yaml:"link_control,omitempty"`
	// RelayControl is the control socket of an emulated link whose relays this agent speaks for; empty: it relays itself.
	RelayControl string `yaml:"relay_control,omitempty"`
	// Observe says what is read of dish and modem beside the runs.
	Observe Observe `yaml:"observe,omitempty"`
	Policy  Policy  `yaml:"policy"`
}

// Observe is what an agent reads on its own network; nothing unless the owner allows it.
type Observe struct {
	// Link is the link that it is about; every link that this agent receives for where it is empty.
	Link string `yaml:"link,omitempty"`
	// Dish is the address of a Starlink dish, host:port.
	Dish string `yaml:"dish,omitempty"`
	// EveryS is from one look at the dish to the next.
	EveryS float64 `yaml:"every_s,omitempty"`
	// ModemPages are files that say which page has which numbers.
	ModemPages []string `yaml:"modem_pages,omitempty"`
}

// IsOn tells whether anything is read.
func (o Observe) IsOn() bool { return o.Dish != "" || len(o.ModemPages) > 0 }

func (o Observe) validate() error {
	if !(o.EveryS >= 1 && o.EveryS <= 3600) { // .nan is neither
		return fmt.Errorf("observe: every_s: %g is not from 1 to 3600", o.EveryS)
	}
	if o.Dish != "" {
		if _, _, err := net.SplitHostPort(o.Dish); err != nil {
			return fmt.Errorf("observe: dish: %q is not host:port, such as 192.168.100.1:9200", o.Dish)
		}
	}
	if len(o.ModemPages) > 10 {
		return errors.New("observe: modem_pages: at most 10 files")
	}
	return nil
}

// Policy is what the host's owner allows, whatever the server orders. 0 means no limit.
type Policy struct {
	MaxSeconds float64 `yaml:"max_seconds"`
	MaxBytes   int64   `yaml:"max_bytes"`
	MaxRateBps int64   `yaml:"max_rate_bps"`
	// MonthlyBytes is what all runs of a month may move; a month begins on ResetDay, by this host's clock.
	MonthlyBytes int64 `yaml:"monthly_bytes"`
	ResetDay     int   `yaml:"reset_day"`
	// Settings that may be changed; AnySetting stands for all that an agent knows.
	Settings []string `yaml:"settings"`
	// RelayFlows, RelayCacheBytes and RelayBufferBytes bound what a relay of other hosts' flows holds.
	RelayFlows       int   `yaml:"relay_flows"`
	RelayCacheBytes  int64 `yaml:"relay_cache_bytes"`
	RelayBufferBytes int64 `yaml:"relay_buffer_bytes"`
	// RelayPrivate lets a relay have neighbours at addresses that are not of the public Internet.
	RelayPrivate bool `yaml:"relay_private"`
	// PublicOnly lets this host dial senders at addresses of the public Internet alone.
	PublicOnly bool `yaml:"public_only"`
	// ShortenAddresses has a server keep the network alone of the addresses under which this host's flows were seen.
	ShortenAddresses bool `yaml:"shorten_addresses"`
	// HoldDays and HoldBytes bound how long, and how much, samples wait here for the server; past either the oldest go.
	HoldDays  float64 `yaml:"hold_days"`
	HoldBytes int64   `yaml:"hold_bytes"`
	// UploadBps is the most that the upload of samples takes of the way to the server; 0 leaves it to what that way carries.
	UploadBps int64 `yaml:"upload_bps"`
	// QuietHours are when no run is taken, and none that would last into them.
	QuietHours []pause.Hours `yaml:"quiet_hours,omitempty"`
}

// PolicyFile is where the owner of a host says what holds for every agent on it. The Debian package brings one that says nothing.
const PolicyFile = "/etc/downlink-agent/policy.yaml"

// Heed replaces what the policy says by what a file of the host's owner says of the same keys; a file that is not there says nothing.
func (c *Config) Heed(path string) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the owner's policy: %w", err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&c.Policy); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the owner's policy %s: %w", path, err)
	}
	if err := c.Validate(); err != nil {
		return fmt.Errorf("the owner's policy %s: %w", path, err)
	}
	return nil
}

// AnySetting in a policy allows every setting of the agent protocol.
const AnySetting = "*"

// AllowsSetting tells whether the policy lets a setting be changed.
func (p Policy) AllowsSetting(name string) bool {
	return slices.Contains(p.Settings, AnySetting) || slices.Contains(p.Settings, name)
}

// Default is what holds for keys that a file leaves out.
func Default() Config {
	return Config{
		StateDir: "/var/lib/downlink-agent", LockDir: "/run/downlink", Roles: []string{"sender", "receiver"},
		SpoolMaxBytes: 4e9, Observe: Observe{EveryS: 10}, Policy: Policy{
			MaxSeconds: 3600, ResetDay: 1, Settings: []string{AnySetting}, RelayFlows: 64, RelayCacheBytes: 64 << 20, RelayBufferBytes: 64e6,
		},
	}
}

// FileName is the configuration's name inside a state folder.
const FileName = "agent.yaml"

// Load reads and checks a configuration file; a key that is not known is an error.
func Load(path string) (Config, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, fmt.Errorf("no configuration at %s: enrol this agent first with `downlink-agent join`", path)
	}
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	config, err := Parse(content)
	if err != nil {
		return Config{}, fmt.Errorf("configuration %s: %w", path, err)
	}
	return config, nil
}

// Folders returns the defaults with the folders that a file names, as far as it can be read. For restoring, which needs no
// more. stateDir is where the state is unless the file says otherwise.
func Folders(path, stateDir string) Config {
	var said struct {
		StateDir string `yaml:"state_dir"`
		LockDir  string `yaml:"lock_dir"`
	}
	if content, err := os.ReadFile(path); err == nil {
		_ = yaml.Unmarshal(content, &said) // of a file with an error, what comes before it
	}
	config := Default()
	config.StateDir = cmp.Or(said.StateDir, stateDir)
	config.LockDir = cmp.Or(said.LockDir, config.LockDir)
	return config
}

// Parse reads and checks a configuration.
func Parse(content []byte) (Config, error) {
	config := Default()
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&config); err != nil {
		return Config{}, err
	}
	return config, config.Validate()
}

// Validate names the first key whose value cannot work.
func (c Config) Validate() error {
	server, err := url.Parse(c.Server)
	switch {
	case err != nil:
		return fmt.Errorf("server: %w", err)
	case !slices.Contains([]string{"http", "https", "unix"}, server.Scheme):
		return fmt.Errorf("server: %q must begin with https://, http:// or unix://", c.Server)
	case c.Name == "":
		return errors.New("name: must not be empty")
	case c.StateDir == "":
		return errors.New("state_dir: must not be empty")
	case c.DataHost == "":
		return errors.New("data_host: name the address at which other agents reach this host")
	case c.DataPort < 0 || c.DataPort > 65535:
		return fmt.Errorf("data_port: %d is not a port; use 0 for one that the kernel picks", c.DataPort)
	case c.SpoolMaxBytes < 0 || c.Policy.MaxSeconds < 0 || c.Policy.MaxBytes < 0 || c.Policy.MaxRateBps < 0 || c.Policy.MonthlyBytes < 0,
		c.Policy.RelayFlows < 0, c.Policy.RelayCacheBytes < 0, c.Policy.RelayBufferBytes < 0,
		c.Policy.HoldDays < 0, c.Policy.HoldBytes < 0, c.Policy.UploadBps < 0:
		return errors.New("limits must not be negative; use 0 for no limit")
	case !isFinite(c.Policy.MaxSeconds) || !isFinite(c.Policy.HoldDays):
		return errors.New("policy: max_seconds and hold_days are numbers; use 0 for no limit")
	case c.Policy.ResetDay < 1 || c.Policy.ResetDay > 28:
		return fmt.Errorf("policy: reset_day: %d is not from 1 to 28, the days that every month has", c.Policy.ResetDay)
	}
	if err := c.Observe.validate(); err != nil {
		return err
	}
	if c.RelayControl != "" && !slices.Equal(c.Roles, []string{"relay"}) {
		return errors.New("relay_control: an agent that speaks for the relays of a link has the role relay alone")
	}
	return c.validateRoles()
}

func isFinite(number float64) bool { return !math.IsNaN(number) && !math.IsInf(number, 0) }

func (c Config) validateRoles() error {
	if len(c.Roles) == 0 {
		return errors.New("roles: name one or more of sender, receiver and relay")
	}
	for i, role := range c.Roles {
		if role != "sender" && role != "receiver" && role != "relay" {
			return fmt.Errorf("roles[%d]: %q is not one of sender, receiver and relay", i, role)
		}
	}
	return nil
}

// Save writes the configuration into its state folder.
func (c Config) Save() (path string, err error) {
	content, err := yaml.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encode configuration: %w", err)
	}
	if err := os.MkdirAll(c.StateDir, 0o700); err != nil {
		return "", fmt.Errorf("make state folder: %w", err)
	}
	path = filepath.Join(c.StateDir, FileName)
	if err := diskfile.Write(path, content, 0o600); err != nil {
		return "", fmt.Errorf("write configuration: %w", err)
	}
	return path, nil
}

// Identity is what the server knows this agent by.
type Identity struct {
	AgentID string `json:"agent_id"`
	Secret  string `json:"secret"`
}

// IdentityPath is the file that holds an agent's identity.
func IdentityPath(stateDir string) string { return filepath.Join(stateDir, "identity.json") }

// SaveIdentity writes a file that only its owner can read.
func SaveIdentity(stateDir string, identity Identity) error {
	content, err := json.Marshal(identity)
	if err != nil {
		return fmt.Errorf("encode identity: %w", err)
	}
	if err := diskfile.Write(IdentityPath(stateDir), content, 0o600); err != nil {
		return fmt.Errorf("write identity: %w", err)
	}
	return nil
}

// LoadIdentity refuses a file that others can read.
func LoadIdentity(stateDir string) (Identity, error) {
	path := IdentityPath(stateDir)
	info, err := os.Stat(path)
	if err != nil {
		return Identity{}, fmt.Errorf("read identity: %w; enrol this agent with `downlink-agent join`", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return Identity{}, fmt.Errorf("identity %s can be read by others (%s): run chmod 600 on it", path, info.Mode().Perm())
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return Identity{}, fmt.Errorf("read identity: %w", err)
	}
	var identity Identity
	if err := json.Unmarshal(content, &identity); err != nil {
		return Identity{}, fmt.Errorf("read identity %s: %w", path, err)
	}
	return identity, nil
}
