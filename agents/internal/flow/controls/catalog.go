package controls

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"downlink/agents/internal/bpf"

	"github.com/cilium/ebpf"
)

// Reasons why a control of ours cannot be loaded.
var (
	ErrUnknownControl    = errors.New("no such control")
	ErrBadOption         = errors.New("bad option of a control")
	ErrAlreadyRegistered = errors.New("a control of this name is registered already")
)

// Control is a congestion control that the agent brings along and loads for the time of a run.
type Control struct {
	Name    string
	Summary string
	Source  string // the specification that it follows
	Options []Option
	// States names the detector_state of the control's records.
	States map[uint8]string
	spec   func() (*ebpf.CollectionSpec, error)
}

// Option is a constant of a control, fixed when it is loaded.
type Option struct {
	Name    string
	Summary string
	Default string
	// constant is the program's name for it where that differs.
	constant string
	Choices  []Choice // the only values; empty: any whole number from Min to Max
	Min      uint32
	Max      uint32
}

// Choice is a named value of an option.
type Choice struct {
	Name  string
	value uint32
}

// Catalog lists the controls that the agent can load, by name.
func Catalog() []Control { return slices.Clone(catalog) }

// Find returns the control of that name.
func Find(name string) (Control, error) {
	for _, known := range catalog {
		if known.Name == name {
			return known, nil
		}
	}
	return Control{}, fmt.Errorf("%w: %q; there are %s", ErrUnknownControl, name, strings.Join(Names(), ", "))
}

// Names lists the controls of the catalog.
func Names() []string {
	names := make([]string, len(catalog))
	for i := range catalog {
		names[i] = catalog[i].Name
	}
	return names
}

var slowStartStates = map[uint8]string{0: "congestion_avoidance", 1: "slow_start"}

var catalog = []Control{
	{
		Name: "dl_cubic_best", Source: "Ataei Kachooei, NetDev 0x16 (BEST)",
		Summary: "Cubic that leaves slow start at a bandwidth estimate times the RTT",
		States:  map[uint8]string{1: "estimating", 2: "decided"},
		spec:    bpf.LoadCubicBest,
		Options: []Option{
			{Name: "percentile", Summary: "which of a round's estimates counts, from below", Default: "50", Min: 1, Max: 99},
			{Name: "first_round", Summary: "first round at whose opening the finished one may decide; rounds count from 1", Default: "4",
				Min: 1, Max: 100},
			{Name: "last_round", Summary: "last round at whose opening it may decide", Default: "7", Min: 1, Max: 1000},
			{Name: "class_mbps", Summary: "width of an estimate's class; 1024 classes are kept", Default: "1", Min: 1, Max: 100},
			{Name: "most_estimates", Summary: "estimates of a round that are kept; later ones are dropped", Default: "300", Min: 1, Max: 60_000},
			{Name: "low_window", Summary: "window in segments below which acknowledgements give no estimate", Default: "16", Max: 65_535},
			{Name: "merge_us", Summary: "acknowledgements that follow each other no later than that count as one; 0: each counts", Default: "0",
				Max: 1_000_000},
		},
	},
	{
		Name: "dl_cubic_hspp", Source: "RFC 9406",
		Summary: "Cubic with HyStart++ in place of HyStart",
		States:  map[uint8]string{1: "slow_start", 2: "conservative_slow_start", 3: "congestion_avoidance"},
		spec:    bpf.LoadCubicHspp,
	},
	{
		Name: "dl_cubic_meansd", Source: "Peters 2021 (its recommendation)",
		Summary: "Cubic that leaves slow start when a round's RTTs rise above the mean by k standard deviations",
		States:  slowStartStates,
		spec:    bpf.LoadCubicMeansd,
		Options: []Option{
			{Name: "k_tenths", Summary: "how many standard deviations above the mean, in tenths", Default: "20", Max: 200},
			{Name: "least_rise_us", Summary: "least rise over the mean that counts", Default: "4000", Max: 200_000},
			{Name: "low_window", Summary: "window in segments below which it does not look", Default: "16", Max: 65_535},
		},
	},
	{
		Name: "dl_cubic_nohs", Source: "the kernel's Cubic (RFC 9438)",
		Summary: "Cubic without HyStart on this socket only",
		spec:    bpf.LoadCubicNohs,
	},
	{
		Name: "dl_cubic_search", Source: "SEARCH: LCN 2023 (1.0), Linux module 3.1, draft-chung-ccwg-search-09 (4.0 exit rule)",
		Summary: "Cubic that leaves slow start when delivery stops following the sending rate",
		States:  slowStartStates,
		spec:    bpf.LoadCubicSearch,
		Options: []Option{
			{Name: "version", Summary: "which SEARCH", Default: "3.1", Choices: []Choice{{"1.0", 10}, {"3.1", 31}, {"4.0", 40}}},
			{Name: "threshold_percent", Summary: "missing share that ends slow start; 0: the version's own (25, 35, 26)", Default: "0", Max: 100},
			{Name: "missed_rtts",
				Summary: "of 3.1: initial RTTs without an acknowledgement after which history is dropped; 0: only when no bin is left", Default: "2",
				Max: 15},
			{Name: "resets_when_app_limited", Summary: "drop history when the application has nothing to send as a bin closes, as the module does",
				Default: "off", Choices: onOff},
			{Name: "rollback", Summary: "take back the overshoot at the exit", Default: "off", Choices: onOff},
		},
	},
	{
		Name: "dl_hybla", Source: "Caini and Firrincieli 2004, as the kernel's tcp_hybla",
		Summary: "TCP Hybla: growth as of a flow with a reference RTT",
		States:  slowStartStates,
		spec:    bpf.LoadHybla,
		Options: []Option{
			{Name: "rtt0_ms", Summary: "the reference RTT", Default: "25", Min: 1, Max: 10000},
		},
	},
	{
		Name: "dl_vivace", Source: "Dong et al., NSDI 2018 (PCC Vivace)",
		Summary: "PCC Vivace: climbs the gradient of a utility of rate, loss and RTT",
		States:  map[uint8]string{1: "starting", 2: "probing", 3: "moving"},
		spec:    bpf.LoadVivace,
		Options: []Option{
			{Name: "utility", Summary: "whether a rising RTT counts against the rate", Default: "latency", constant: "latency_milli",
				Choices: []Choice{{"latency", 900_000}, {"loss", 0}}},
			{Name: "throughput", Summary: "how the rate counts: rate^0.9 as in the paper, or linear as in PCC-Kernel", Default: "power",
				constant: "is_linear", Choices: []Choice{{"power", 0}, {"linear", 1}}},
			{Name: "loss_milli", Summary: "weight of the loss ratio, in thousandths", Default: "11350", Max: 1_000_000},
			{Name: "slope_tolerance_ppm", Summary: "RTT slopes smaller than this count as none", Default: "20000", Max: 1_000_000},
			{Name: "noise_percent",
				Summary: "RTT slopes count only when the line's rise over an interval is this percentage of the samples' deviation from it; 0: " +
					"all count", Default: "300", Max: 1000},
			{Name: "start_noise_percent", Summary: "noise_percent of the starting phase; 300 keeps jitter from ending it", Default: "0", Max: 1000},
			{Name: "interval_rtts", Summary: "length of a monitor interval after the start", Default: "2", Min: 1, Max: 10},
			{Name: "initial_kbps", Summary: "first rate", Default: "4194", Min: 64, Max: 1_000_000},
		},
	},
}

var onOff = []Choice{{"off", 0}, {"on", 1}}

// constants turns options into the values of the program's constants; what is not given keeps its default.
func (c *Control) constants(given map[string]any) (map[string]uint32, error) {
	values := map[string]uint32{}
	for i := range c.Options {
		option := &c.Options[i]
		asked, ok := given[option.Name]
		if !ok {
			asked = option.Default
		}
		value, err := option.parse(text(asked))
		if err != nil {
			return nil, fmt.Errorf("%w: %s of %s: %w", ErrBadOption, option.Name, c.Name, err)
		}
		values[option.Name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := values[name]; !ok {
			return nil, fmt.Errorf("%w: %s has no option %q%s", ErrBadOption, c.Name, name, c.offers())
		}
	}
	return values, nil
}

// text spells a number of a campaign, which JSON makes a float, without an exponent.
func text(value any) string {
	if number, ok := value.(float64); ok {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

func (c *Control) offers() string {
	if len(c.Options) == 0 {
		return " (it has none)"
	}
	names := make([]string, len(c.Options))
	for i := range c.Options {
		names[i] = c.Options[i].Name
	}
	return "; it has " + strings.Join(names, ", ")
}

// CheckOptions says what is wrong with options before anything is loaded.
func (c *Control) CheckOptions(given map[string]any) error {
	_, err := c.constants(given)
	return err
}

func (o *Option) variable() string { return cmp.Or(o.constant, o.Name) }

func (o *Option) parse(text string) (uint32, error) {
	if len(o.Choices) > 0 {
		return o.choose(text)
	}
	value, err := strconv.ParseUint(text, 10, 32)
	if err != nil || uint32(value) < o.Min || uint32(value) > o.Max {
		return 0, fmt.Errorf("%q is not a whole number from %d to %d", text, o.Min, o.Max)
	}
	return uint32(value), nil
}

// Values says what may be given.
func (o *Option) Values() string {
	if len(o.Choices) == 0 {
		return fmt.Sprintf("%d to %d", o.Min, o.Max)
	}
	return strings.Join(o.ChoiceNames(), ", ")
}

// ChoiceNames lists the only values, empty where any number from Min to Max may be given.
func (o *Option) ChoiceNames() []string {
	names := make([]string, len(o.Choices))
	for i, choice := range o.Choices {
		names[i] = choice.Name
	}
	return names
}

func (o *Option) choose(text string) (uint32, error) {
	for _, choice := range o.Choices {
		// A file may hold the number 4 for 4.0, or true for on.
		if choice.Name == text || choice.Name == text+".0" ||
			choice == (Choice{"on", 1}) && text == "true" || choice == (Choice{"off", 0}) && text == "false" {
			return choice.value, nil
		}
	}
	return 0, fmt.Errorf("%q is none of %s", text, o.Values())
}
