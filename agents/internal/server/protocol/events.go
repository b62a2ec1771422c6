package protocol

import (
	"encoding/json"
	"slices"
)

// EventKind names an event.
type EventKind string

// The kinds of protocol section 5.
const (
	KindReady    EventKind = "ready"
	KindFailed   EventKind = "failed"
	KindFinished EventKind = "finished"
	KindRestored EventKind = "restored"
	KindUploaded EventKind = "uploaded"
)

// EventHead opens every event.
type EventHead struct {
	Kind    EventKind `json:"kind"`
	Attempt int       `json:"attempt"`
	At      Moment    `json:"at"`
}

// Ready says that settings are in force and a sender's data port is open.
type Ready struct {
	EventHead
	DataAddress    *string           `json:"data_address"`
	SettingsBefore map[string]string `json:"settings_before"`
	SettingsDuring map[string]string `json:"settings_during"`
	Fingerprint    Fingerprint       `json:"fingerprint"`
}

// Fingerprint is what a run's numbers may depend on besides its settings.
type Fingerprint struct {
	Kernel    string          `json:"kernel"`
	BootID    string          `json:"boot_id"`
	Version   string          `json:"version"`
	Interface string          `json:"interface"`
	Qdisc     string          `json:"qdisc"`
	Offloads  map[string]bool `json:"offloads"`
	// Route is how packets to the run's first peer leave, empty where that is not known.
	Route         string  `json:"route"`
	MTUBytes      int     `json:"mtu_bytes"`
	ClockOffsetMs float64 `json:"clock_offset_ms"`
	ClockErrorMs  float64 `json:"clock_error_ms"`
}

// Failed ends a run at this agent; its host is restored already.
type Failed struct {
	EventHead
	Reason Reason `json:"reason"`
	Detail string `json:"detail"`
	Recorded
}

// Recorded is what an agent has of a run that was broken off while data moved; empty where none did.
type Recorded struct {
	Flows []Outcome    `json:"flows,omitempty"`
	Link  *LinkOutcome `json:"link,omitempty"`
}

// Finished says that every flow ended and its chunks are on disk.
type Finished struct {
	EventHead
	Flows []Outcome `json:"flows"`
	// Link is what the agent beside an emulated link has of it; nil elsewhere.
	Link *LinkOutcome `json:"link,omitempty"`
}

// LinkOutcome is what came of an emulated link's restart for a run, and of its log.
type LinkOutcome struct {
	Profile string `json:"profile"`
	Seed    uint64 `json:"seed"`
	// PhaseUs is where in its course the link was at the run's zero.
	PhaseUs int64 `json:"phase_us"`
	// Path is the stretch of a path trace that the link flew; nil: it has no path.
	Path           *LinkPath `json:"path,omitempty"`
	Samples        int       `json:"samples"`
	Chunks         int       `json:"chunks"`
	DroppedSamples uint64    `json:"dropped_samples"`
	// DrainedPackets were still inside at the restart; they left the link as if there had been none.
	DrainedPackets int `json:"drained_packets"`
	// LateSamples are those before which a packet left more than LateLimitUs after its moment; LatenessMaxUs is the worst.
	LateSamples   uint64     `json:"late_samples"`
	LateLimitUs   int64      `json:"late_limit_us"`
	LatenessMaxUs int64      `json:"lateness_max_us"`
	Lost          []LinkLoss `json:"lost"`
	// CountedFlows are those whose lost packets Lost has, if there were any. Of others nothing is known. Nil: not said.
	CountedFlows []int   `json:"counted_flows,omitzero"`
	Detail       *string `json:"detail"`
}

// LinkPath is a path trace, and where in it the run's zero was.
type LinkPath struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	AtUs   int64  `json:"at_us"`
}

// LinkLoss counts packets that the link lost on one way for one cause. Flow is nil for packets of none that is counted.
type LinkLoss struct {
	Flow    *int   `json:"flow"`
	Way     string `json:"way"`
	Cause   string `json:"cause"`
	Packets uint64 `json:"packets"`
}

// HystartExits counts ends of slow start by HyStart's two detectors.
type HystartExits struct {
	Train int64 `json:"train"`
	Delay int64 `json:"delay"`
}

// Outcome is what came of one flow at one point.
type Outcome struct {
	Flow     int    `json:"flow"`
	Point    Point  `json:"point"`
	AskedCC  string `json:"asked_cc"`
	ActualCC string `json:"actual_cc"`
	// CCVersion is BBR's; null for every other control.
	CCVersion *int `json:"cc_version"`
	// HystartExits are those of all sockets beside this flow on its host, by detector; null where nobody counts.
	HystartExits *HystartExits `json:"hystart_exits"`
	StartedUs    *int64        `json:"started_us"`
	FirstByteUs  *int64        `json:"first_byte_us"`
	LastByteUs   *int64        `json:"last_byte_us"`
	AppBytes     int64         `json:"app_bytes"`
	LocalAddress string        `json:"local_address"`
	PeerAddress  string        `json:"peer_address"`
	// Way is how this end's packets left when the flow had begun, WayAtEnd when it ended; nil: not known.
	Way      *Way `json:"way,omitempty"`
	WayAtEnd *Way `json:"way_at_end,omitempty"`
	// HandshakeRTTUs is the round trip of the connection's own handshake; nil where its packets were repeated, or there was none.
	HandshakeRTTUs *int64 `json:"handshake_rtt_us"`
	TCPInfoBytes   int    `json:"tcp_info_bytes"`
	Samples        int    `json:"samples"`
	Chunks         int    `json:"chunks"`
	// Sampling is what was done, which may be less than what was asked for; Detail says why then.
	Sampling SamplingMode `json:"sampling"`
	// DroppedSamples are acknowledgements that the kernel's ring had no room for.
	DroppedSamples uint64  `json:"dropped_samples"`
	AchievedRateHz float64 `json:"achieved_rate_hz"`
	LatenessMeanUs float64 `json:"lateness_mean_us"`
	LatenessMaxUs  float64 `json:"lateness_max_us"`
	Ended          Ended   `json:"ended"`
	Detail         *string `json:"detail"`
	// WrongAt is with EndedContentWrong alone.
	WrongAt *WrongAt `json:"wrong_at,omitempty"`
	// Delivery is the flow's delivery table; nil: none was kept.
	Delivery *Delivery `json:"delivery,omitempty"`
	// Sites is the table of an emulated link's sites; nil: none was kept.
	Sites *SiteTable `json:"sites,omitempty"`
}

// Way is a host's own part of a flow's path, by its routes: the address that packets carry as their source, the interface that they
// leave by, and the first hop, empty where the peer is on the same network.
type Way struct {
	Source    string `json:"source"`
	Interface string `json:"interface"`
	NextHop   string `json:"next_hop,omitempty"`
}

// WrongAt is the first byte that was not the content's, and the last hop whose tags held.
type WrongAt struct {
	Offset uint64 `json:"offset"`
	Hop    int    `json:"hop"`
}

// Delivery says what chunks of PointSent or PointDelivered hold.
type Delivery struct {
	BlockBytes  int    `json:"block_bytes"`
	Rows        int    `json:"rows"`
	Chunks      int    `json:"chunks"`
	DroppedRows uint64 `json:"dropped_rows"`
	// ZeroUs is the run's zero on this host's monotonic clock, which both ends on one host share.
	ZeroUs int64 `json:"zero_us"`
}

// SiteTable says what chunks of PointSites hold. DroppedRows are those for which there was no room.
type SiteTable struct {
	Rows        int    `json:"rows"`
	Chunks      int    `json:"chunks"`
	DroppedRows uint64 `json:"dropped_rows"`
}

// Restored says how the host stands after the run; Differences are sentences. It has what was recorded of an aborted run.
type Restored struct {
	EventHead
	SettingsAfter map[string]string `json:"settings_after"`
	IsRestored    bool              `json:"is_restored"`
	Differences   []string          `json:"differences"`
	Recorded
}

// Uploaded says that every chunk of the attempt was acknowledged but for those that are missing.
type Uploaded struct {
	EventHead
	// Missing are chunks that were announced and that this agent does not have any more.
	Missing []Missing `json:"missing,omitempty"`
}

// Why names what became of chunks that an agent cannot deliver.
type Why string

// The values of Why.
const (
	WhyDamaged Why = "damaged"
	WhyRefused Why = "refused"
	WhyGone    Why = "gone"
	WhyTooOld  Why = "too_old"
	WhyTooMuch Why = "too_much"
)

// Missing are chunks of one flow at one point, from First to Last.
type Missing struct {
	Flow  int   `json:"flow"`
	Point Point `json:"point"`
	First int   `json:"first"`
	Last  int   `json:"last"`
	Why   Why   `json:"why"`
}

// Event is one of Ready, Failed, Finished, Restored and Uploaded.
type Event interface {
	Head() EventHead
}

// Head returns the common part of an event.
func (h EventHead) Head() EventHead { return h }

// EncodeEvent returns the body to post, with the lease under which the run was ordered.
func EncodeEvent(ref RunRef, event Event) ([]byte, error) {
	body, err := json.Marshal(event)
	if err != nil || ref.Lease == "" {
		return body, err
	}
	lease, err := json.Marshal(ref.Lease)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(`{"lease":`), lease, []byte(","), body[1:]), nil
}
