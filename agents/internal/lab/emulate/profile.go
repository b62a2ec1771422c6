package emulate

import (
	"slices"
)

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
