package emulate

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed profiles/*.yaml
var embedded embed.FS

// Profile describes an emulated link. docs/link-profiles.md explains every key.
type Profile struct {
	Extends     string    `yaml:"extends"`
	Name        string    `yaml:"name"`
	Description string    `yaml:"description"`
	Orbit       string    `yaml:"orbit"`
	Seed        uint64    `yaml:"seed"`
	Down        Direction `yaml:"down"`
	Up          Direction `yaml:"up"`
	Hops        []Hop     `yaml:"hops"`
	Path        *Path     `yaml:"path"`
	Receivers   []Branch  `yaml:"receivers"`
	Pep         *Pep      `yaml:"pep"`
	Facts       Facts     `yaml:"facts"`
}

// Direction is one way across the link: down from the gateway to the receiver, up from the receiver to the gateway.
type Direction struct {
	Rate   Rate    `yaml:"rate"`
	Queue  Queue   `yaml:"queue"`
	Frames *Frames `yaml:"frames"`
	Gap    *Gap    `yaml:"gap"`
	Loss   Loss    `yaml:"loss"`
	Delay  Delay   `yaml:"delay"`
	Trace  string  `yaml:"trace"`

	recorded *Trace // what the file Trace holds
}

// peakBps is the highest rate that there can be.
func (d Direction) peakBps() float64 {
	peak := d.Rate.peakBps()
	if d.recorded != nil && d.recorded.Bps != nil {
		peak = slices.Max(d.recorded.Bps)
	}
	if d.Rate.Varies != nil {
		peak *= d.Rate.Varies.HighRatio
	}
	return peak
}

// Rate holds exactly one of its kinds, none where a trace has the rate, and may vary besides.
type Rate struct {
	ConstantBps float64    `yaml:"constant_bps"`
	Steps       *RateSteps `yaml:"steps"`
	Trace       *RateTrace `yaml:"trace"`
	Varies      *Varies    `yaml:"varies"`
}

// peakBps is the highest rate of the kind.
func (r Rate) peakBps() float64 {
	peak := r.ConstantBps
	if r.Steps != nil {
		peak = max(peak, r.Steps.HighBps)
	}
	if r.Trace != nil {
		for _, point := range r.Trace.Points {
			peak = max(peak, point.Bps)
		}
	}
	return peak
}

// Varies is a factor of the rate that wanders around 1.
type Varies struct {
	StepMs       float64 `yaml:"step_ms"`
	CorrelationS float64 `yaml:"correlation_s"`
	SdRatio      float64 `yaml:"sd_ratio"`
	LowRatio     float64 `yaml:"low_ratio"`
	HighRatio    float64 `yaml:"high_ratio"`
}

type RateSteps struct {
	PeriodS float64 `yaml:"period_s"`
	OffsetS float64 `yaml:"offset_s"`
	LowBps  float64 `yaml:"low_bps"`
	HighBps float64 `yaml:"high_bps"`
}

type RateTrace struct {
	RepeatS float64     `yaml:"repeat_s"`
	Points  []RatePoint `yaml:"points"`
}

type RatePoint struct {
	AtS float64 `yaml:"at_s"`
	Bps float64 `yaml:"bps"`
}

type Queue struct {
	LimitBytes int         `yaml:"limit_bytes"`
	RandomDrop *RandomDrop `yaml:"random_drop"`
}

type RandomDrop struct {
	AboveBytes int     `yaml:"above_bytes"`
	Ratio      float64 `yaml:"ratio"`
}

// Frames is a channel that carries a few bytes of each frame unasked, and more only some time after they were asked for.
type Frames struct {
	LengthMs         float64 `yaml:"length_ms"`
	BaseBytes        int     `yaml:"base_bytes"`
	MostBytes        int     `yaml:"most_bytes"`
	GrantDelayFrames int     `yaml:"grant_delay_frames"`
	RequestFrames    int     `yaml:"request_frames"`
	HoldS            float64 `yaml:"hold_s"`
	ThinsAcks        bool    `yaml:"thins_acks"`
}

// Gap has one length, or quantiles of which each gap draws its own.
type Gap struct {
	EveryS   float64       `yaml:"every_s"`
	OffsetS  float64       `yaml:"offset_s"`
	LengthMs float64       `yaml:"length_ms"`
	Lengths  []QuantilesMs `yaml:"lengths"`
	IsLossy  bool          `yaml:"is_lossy"`
}

// longestMs is the longest gap that there can be.
func (g Gap) longestMs() float64 {
	if len(g.Lengths) > 0 {
		return g.Lengths[len(g.Lengths)-1].DelayMs
	}
	return g.LengthMs
}

// Loss may hold both of its kinds, or none.
type Loss struct {
	IndependentRatio float64  `yaml:"independent_ratio"`
	Outages          *Outages `yaml:"outages"`
}

type Outages struct {
	MeanLengthMs float64 `yaml:"mean_length_ms"`
	MeanSpacingS float64 `yaml:"mean_spacing_s"`
}

type Delay struct {
	BaseMs     float64     `yaml:"base_ms"`
	Variations []Variation `yaml:"variations"`
	Reorders   bool        `yaml:"reorders"`
}

// Variation holds exactly one kind of distribution.
type Variation struct {
	HoldMs    float64       `yaml:"hold_ms"`
	OffsetMs  float64       `yaml:"offset_ms"`
	Normal    *NormalMs     `yaml:"normal"`
	Uniform   *UniformMs    `yaml:"uniform"`
	Quantiles []QuantilesMs `yaml:"quantiles"`
}

type NormalMs struct {
	SdMs   float64 `yaml:"sd_ms"`
	LowMs  float64 `yaml:"low_ms"`
	HighMs float64 `yaml:"high_ms"`
}

type UniformMs struct {
	LowMs  float64 `yaml:"low_ms"`
	HighMs float64 `yaml:"high_ms"`
}

type QuantilesMs struct {
	Ratio   float64 `yaml:"ratio"`
	DelayMs float64 `yaml:"delay_ms"`
}

// Facts are the figures that the profile is meant to reproduce. Packets know nothing of them: `link show` and the tests
// hold the emulated link against them. Zero: not stated; nominal rate and base RTT always are.
type Facts struct {
	Source          string  `yaml:"source"`
	NominalRateBps  float64 `yaml:"nominal_rate_bps"`
	BaseRttMs       float64 `yaml:"base_rtt_ms"`
	IdleRttMedianMs float64 `yaml:"idle_rtt_median_ms"`
	IdleRttMeanMs   float64 `yaml:"idle_rtt_mean_ms"`
	IdleRttSdMs     float64 `yaml:"idle_rtt_sd_ms"`
	IdleRttP005Ms   float64 `yaml:"idle_rtt_p00_5_ms"`
	IdleRttP995Ms   float64 `yaml:"idle_rtt_p99_5_ms"`
	IdleLossRatio   float64 `yaml:"idle_loss_ratio"`

	Targets []Target `yaml:"targets"`
}

// Target is a published value of a statistic, and how far from it the emulated link may be. The statistics are those of
// internal/calibration.
type Target struct {
	Statistic string  `yaml:"statistic"`
	Value     float64 `yaml:"value"`
	Low       float64 `yaml:"low"`
	High      float64 `yaml:"high"`
	Use       string  `yaml:"use"`
	Source    string  `yaml:"source"`
}

// What a target was used for.
const (
	UseSet  = "set"  // a parameter of the profile says it directly
	UseFit  = "fit"  // parameters were chosen by it
	UseTest = "test" // it was left out of the choice, and tests it
)

// ProfileNames lists the profiles that come with the program.
func ProfileNames() []string {
	entries, _ := embedded.ReadDir("profiles") // the folder is part of the program
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".yaml")
	}
	slices.Sort(names)
	return names
}

// LoadProfile reads a profile that comes with the program, by name, or the user's own file, by a path with a slash or a
// .yaml ending, or a path trace by its .dlpath ending.
func LoadProfile(nameOrPath string) (Profile, error) {
	if strings.HasSuffix(nameOrPath, pathEnding) {
		return loadPath(nameOrPath)
	}
	if strings.ContainsRune(nameOrPath, '/') || strings.HasSuffix(nameOrPath, ".yaml") {
		text, err := os.ReadFile(nameOrPath)
		if err != nil {
			return Profile{}, fmt.Errorf("read link profile: %w", err)
		}
		return parseProfile(nameOrPath, text, os.DirFS(filepath.Dir(nameOrPath)))
	}
	text, err := embedded.ReadFile(path.Join("profiles", nameOrPath+".yaml"))
	if err != nil {
		return Profile{}, fmt.Errorf("no link profile is called %q: use one of %s, or the path of a .yaml file",
			nameOrPath, strings.Join(ProfileNames(), ", "))
	}
	folder, _ := fs.Sub(embedded, "profiles") // the folder is part of the program
	return parseProfile(nameOrPath, text, folder)
}

// parseProfile makes a profile of a file's text. Traces are files of the folder.
func parseProfile(file string, text []byte, folder fs.FS) (Profile, error) {
	profile, err := decodeProfile(text)
	if err != nil {
		return Profile{}, fmt.Errorf("link profile %s: %w", file, err)
	}
	if err := profile.load(folder); err != nil {
		return Profile{}, fmt.Errorf("link profile %s: %w", file, err)
	}
	profile = profile.withFacts()
	if profile.Pep != nil {
		profile.Pep = profile.Pep.withDefaults()
	}
	if err := profile.validate(); err != nil {
		return Profile{}, fmt.Errorf("link profile %s: %w", file, err)
	}
	return profile, nil
}

// decodeProfile decodes strictly: an unknown key is an error, named with its line. Keys that the text leaves out are those of
// the built-in profile that it extends, except name, description and facts.
func decodeProfile(text []byte) (profile Profile, err error) {
	var head struct {
		Extends string `yaml:"extends"`
	}
	if yaml.Unmarshal(text, &head) == nil && head.Extends != "" {
		base, err := embedded.ReadFile(path.Join("profiles", head.Extends+".yaml"))
		if err != nil {
			return Profile{}, fmt.Errorf("extends must be one of %s, not %q", strings.Join(ProfileNames(), ", "), head.Extends)
		}
		if profile, err = decodeProfile(base); err != nil {
			return Profile{}, fmt.Errorf("extends %s: %w", head.Extends, err)
		}
		profile.Name, profile.Description, profile.Facts = "", "", Facts{}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err = decoder.Decode(&profile); errors.Is(err, io.EOF) {
		err = errors.New("the file is empty")
	}
	return profile, err
}

// load reads the traces of a profile, whose kind must be clear before.
func (profile *Profile) load(folder fs.FS) error {
	if err := profile.checkKind(); err != nil {
		return err
	}
	if len(profile.Hops) == 0 {
		whole := Hop{profile.Down, profile.Up, profile.Path}
		if err := whole.load(folder); err != nil {
			return err
		}
		profile.Down, profile.Up = whole.Down, whole.Up
	}
	for i := range profile.Hops {
		if err := profile.Hops[i].load(folder); err != nil {
			return fmt.Errorf("hops[%d]: %w", i, err)
		}
	}
	for i := range profile.Receivers {
		b := &profile.Receivers[i]
		if err := errors.Join(b.Down.load(folder), b.Up.load(folder)); err != nil {
			return fmt.Errorf("receivers[%d]: %w", i, err)
		}
	}
	return nil
}

// load reads the way's trace, if it has one.
func (d *Direction) load(folder fs.FS) error {
	if d.Trace == "" {
		return nil
	}
	file, err := folder.Open(d.Trace)
	if err != nil {
		return fmt.Errorf("open the trace, a file in the profile's folder or below: %w", err)
	}
	defer func() { _ = file.Close() }()
	if d.recorded, err = ReadTrace(file); err != nil {
		return fmt.Errorf("trace %s: %w", d.Trace, err)
	}
	return nil
}

// open finds the path trace.
func (p *Path) open(folder fs.FS) (io.ReadCloser, error) {
	switch {
	case filepath.IsAbs(p.File):
		return os.Open(p.File)
	case filepath.Ext(p.File) == pathEnding:
		file, err := folder.Open(p.File)
		if err != nil {
			return nil, fmt.Errorf("open the path trace %s, a file in the profile's folder or below, or an absolute path; "+
				"`downlink paths make NAME --to FILE` makes one: %w", p.File, err)
		}
		return file, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("find the path trace %s: %w", p.File, err)
	}
	file, err := os.Open(filepath.Join(cache, "downlink", "paths", filepath.Base(p.File)+pathEnding))
	if err != nil {
		return nil, fmt.Errorf("open the path trace %s; `downlink paths make %s` makes it: %w", p.File, p.File, err)
	}
	return file, nil
}
