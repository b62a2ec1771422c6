package protocol

import (
	"strconv"
)

// Version is the version of the protocol that is spoken here.
const Version = 2

// Status is what an agent says it is doing in each poll.
type Status string

// The statuses of protocol section 2.
const (
	StatusIdle      Status = "idle"
	StatusPreparing Status = "preparing"
	StatusReady     Status = "ready"
	StatusRunning   Status = "running"
	StatusRestoring Status = "restoring"
	StatusRestored  Status = "restored"
	StatusUploading Status = "uploading"
	StatusBlocked   Status = "blocked"
)

// Role says which side of a flow an agent takes.
type Role string

// The roles of an agent.
const (
	RoleSender   Role = "sender"
	RoleReceiver Role = "receiver"
	RoleRelay    Role = "relay"
)

// Point is where samples of a flow are taken: at its sender, its receiver, the link, or at hop-1, hop-2, … of its way.
type Point string

// PointLink is where an emulated link's log is taken. It is of no flow: its chunks say flow 0.
const PointLink Point = "link"

// PointSent and PointDelivered are the halves of a flow's delivery table, as its sender and its receiver have it.
const (
	PointSent      Point = "sent"
	PointDelivered Point = "delivered"
)

// PointSites is the table of an emulated link's sites, as the agent has it that speaks for them.
const PointSites Point = "sites"

// PointHop is where the relay at a place takes its samples, counted from 1 at the sender's side.
func PointHop(place int) Point { return Point("hop-" + strconv.Itoa(place)) }

// At is the point of an end in this role.
func At(role Role) Point { return Point(role) }

// Reason is a code of protocol section 7.
type Reason string

// The reasons that an agent gives itself.
const (
	ReasonAgentRestarted   Reason = "agent_restarted"
	ReasonCCUnavailable    Reason = "cc_unavailable"
	ReasonSettingRefused   Reason = "setting_refused"
	ReasonSettingFailed    Reason = "setting_failed"
	ReasonPolicyRefused    Reason = "policy_refused"
	ReasonOverBudget       Reason = "over_budget"
	ReasonPortFailed       Reason = "port_failed"
	ReasonConnectFailed    Reason = "connect_failed"
	ReasonLinkLost         Reason = "link_lost"
	ReasonNoSamples        Reason = "no_samples"
	ReasonThinTrace        Reason = "thin_trace"
	ReasonDiskFull         Reason = "disk_full"
	ReasonClockUnsure      Reason = "clock_unsure"
	ReasonDeadline         Reason = "deadline"
	ReasonNotRestored      Reason = "not_restored"
	ReasonLeaseExpired     Reason = "lease_expired"
	ReasonHostBusy         Reason = "host_busy"
	ReasonUploadRefused    Reason = "upload_refused"
	ReasonLinkControl      Reason = "link_control_failed"
	ReasonEmulatorLate     Reason = "emulator_late"
	ReasonRelayUnreachable Reason = "relay_unreachable"
	ReasonRelayRefused     Reason = "relay_refused"
	ReasonContentWrong     Reason = "content_wrong"
	ReasonInternal         Reason = "internal"
)

// Ended says what ended a flow at one end.
type Ended string

// The endings of protocol section 6.
const (
	EndedStopRule     Ended = "stop_rule"
	EndedPeerClosed   Ended = "peer_closed"
	EndedLinkLost     Ended = "link_lost"
	EndedAborted      Ended = "aborted"
	EndedDeadline     Ended = "deadline"
	EndedOverBudget   Ended = "over_budget"
	EndedContentWrong Ended = "content_wrong"
	EndedRefused      Ended = "refused"
)

// RunRef names one attempt at one run. Lease tells orders for one attempt apart that a server gave before and after it was restored from
// a copy; empty: the server does not say it.
type RunRef struct {
	RunID   string `json:"run_id"`
	Attempt int    `json:"attempt"`
	Lease   string `json:"lease,omitempty"`
}

// Is tells whether an order or event is of this lease of an attempt. One that says no lease is of any: the server has forgotten the run, or
// is of before.
func (r RunRef) Is(other RunRef) bool {
	return r.Names(other) && (r.Lease == "" || other.Lease == "" || r.Lease == other.Lease)
}

// Names tells whether both are of one attempt, under any lease.
func (r RunRef) Names(other RunRef) bool { return r.RunID == other.RunID && r.Attempt == other.Attempt }

// Host is the facts and capabilities that an agent sends at joining, at start and on change.
type Host struct {
	BootID             string   `json:"boot_id"`
	Hostname           string   `json:"hostname"`
	Kernel             string   `json:"kernel"`
	OS                 string   `json:"os"`
	Arch               string   `json:"arch"`
	CPUs               int      `json:"cpus"`
	Roles              []Role   `json:"roles"`
	CongestionControls []string `json:"congestion_controls"`
	// ControlsUnavailable says of each control of the agent's own that this host cannot run, why not.
	ControlsUnavailable map[string]string `json:"controls_unavailable"`
	// ControlOptions are what each control of the agent's own takes, by control and option.
	ControlOptions map[string]map[string]ControlOption `json:"control_options"`
	// Transports are the kinds of flow that the agent carries.
	Transports []TransportKind `json:"transports"`
	// TransportOptions are what the kinds take, by kind and option; nil: not said.
	TransportOptions map[TransportKind]map[string]ControlOption `json:"transport_options,omitempty"`
	// Offers bounds message_bytes and every_ms of an offer; nil: the agent sends as fast as it can alone.
	Offers map[string]ControlOption `json:"offers,omitempty"`
	// HoldsBudget: the agent ends a run that has moved what its order's budget allows.
	HoldsBudget bool `json:"holds_budget,omitempty"`
	// DataMTU is that of the interface of DataHost; 0: not known.
	DataMTU          int               `json:"data_mtu,omitempty"`
	Settings         map[string]string `json:"settings"`
	SettingsWritable []string          `json:"settings_writable"`
	// PerAckRefused says why no ACKs of the kernel's controls are recorded here; empty: they are.
	PerAckRefused string `json:"per_ack_refused,omitempty"`
	// SettingsRefused says of each setting that the agent cannot make here, why.
	SettingsRefused map[string]string `json:"settings_refused,omitempty"`
	TCPInfoBytes    int               `json:"tcp_info_bytes"`
	DataHost        string            `json:"data_host"`
	SpoolFreeBytes  int64             `json:"spool_free_bytes"`
	// PathTrace is what is replayed by the emulated link beside this agent; nil: none is known.
	PathTrace *PathTrace `json:"path_trace,omitempty"`
	// Clock is how this host's clock differs from the server's; nil before the first exchange.
	Clock *ClockFacts `json:"clock,omitempty"`
	// Policy is what the owner allows a run; the server may plan within it, and cannot change it.
	Policy *PolicyFacts `json:"policy,omitempty"`
}

// PathTrace is a path trace that a link replays, and how long it is.
type PathTrace struct {
	Name   string  `json:"name"`
	LastsS float64 `json:"lasts_s"`
}

// PolicyFacts are the bounds of the owner's policy that a plan can respect. 0, nil or empty: no bound.
type PolicyFacts struct {
	MaxSeconds float64 `json:"max_seconds,omitempty"`
	MaxBytes   int64   `json:"max_bytes,omitempty"`
	MaxRateBps int64   `json:"max_rate_bps,omitempty"`
	// Month is what all runs of a month may move.
	Month *MonthFacts `json:"month,omitempty"`
	// QuietHours are by the host's own clock, which is UTCOffsetS ahead of UTC now.
	QuietHours []string `json:"quiet_hours,omitempty"`
	UTCOffsetS int      `json:"utc_offset_s"`
	// ShortenAddresses: of this host's addresses the server keeps the network alone.
	ShortenAddresses bool `json:"shorten_addresses,omitempty"`
}

// MonthFacts say what of a month is used, and on which day, by the host's clock, the next one begins.
type MonthFacts struct {
	LimitBytes int64  `json:"limit_bytes"`
	UsedBytes  int64  `json:"used_bytes"`
	ResetsOn   string `json:"resets_on"`
}

// ClockFacts are what must be added to a host's clock to get the server's, and half the round trip that told it.
type ClockFacts struct {
	OffsetMs float64 `json:"offset_ms"`
	ErrorMs  float64 `json:"error_ms"`
}

// ControlOption is what may be given for it: one of Choices or, where there are none, a whole number from Min to Max.
type ControlOption struct {
	Choices []string `json:"choices"`
	Min     uint32   `json:"min"`
	Max     uint32   `json:"max"`
}

// JoinRequest trades a single-use enrolment token for an identity.
type JoinRequest struct {
	// Protocol is Version.
	Protocol int    `json:"protocol"`
	Token    string `json:"token"`
	Name     string `json:"name"`
	Version  string `json:"version"`
	Host     Host   `json:"host"`
}

// JoinResponse is the identity.
type JoinResponse struct {
	AgentID   string `json:"agent_id"`
	Secret    string `json:"secret"`
	ServerNow Moment `json:"server_now"`
}

// Progress is seconds and bytes while sending, chunks while uploading.
type Progress struct {
	ElapsedS *float64 `json:"elapsed_s,omitempty"`
	Bytes    *int64   `json:"bytes,omitempty"`
	// Flows are the sender's own connections as they are now; a server from before them does not read it.
	Flows       []FlowProgress `json:"flows,omitempty"`
	ChunksDone  *int           `json:"chunks_done,omitempty"`
	ChunksTotal *int           `json:"chunks_total,omitempty"`
}

// FlowProgress is one look at a sending connection, for people who watch.
type FlowProgress struct {
	Flow       int   `json:"flow"`
	AckedBytes int64 `json:"acked_bytes"`
	RTTUs      int64 `json:"rtt_us"`
	CwndBytes  int64 `json:"cwnd_bytes"`
}

// Spooled counts the unacknowledged chunks of one attempt.
type Spooled struct {
	RunRef
	Chunks int `json:"chunks"`
}

// PollRequest is heartbeat and question in one.
type PollRequest struct {
	// Protocol is Version.
	Protocol int     `json:"protocol"`
	Status   Status  `json:"status"`
	RunID    *string `json:"run_id"`
	Attempt  *int    `json:"attempt"`
	Detail   *string `json:"detail"`
	// Reason is a code for Detail, where there is one.
	Reason   *Reason   `json:"reason,omitempty"`
	Progress *Progress `json:"progress"`
	Spool    []Spooled `json:"spool"`
	Host     *Host     `json:"host"`
	WaitS    float64   `json:"wait_s"`
}

// The modes of protocol section 3.
const (
	SamplingPolled SamplingMode = "polled"
	SamplingPerAck SamplingMode = "per_ack"
)

// The kinds of protocol section 3.
const (
	TransportTCP   TransportKind = "tcp"
	TransportProbe TransportKind = "probe"
	TransportSplit TransportKind = "split"
	TransportINTCP TransportKind = "intcp"
)

// ChunkReply answers a chunk upload. Without Stored it is not the server's.
type ChunkReply struct {
	Stored *bool `json:"stored"`
}

// ChunkHead is the line before each chunk of a bundle.
type ChunkHead struct {
	Flow     int    `json:"flow"`
	Point    Point  `json:"point"`
	Sequence int    `json:"sequence"`
	SHA256   string `json:"sha256"`
	Size     int    `json:"size"`
}

// ChunksReply answers a bundle: one answer for each chunk, in the order of the request.
type ChunksReply struct {
	Chunks []ChunkAnswer `json:"chunks"`
}

// ChunkAnswer is what the upload of this chunk alone would have been answered. Code and Message say why it was refused.
type ChunkAnswer struct {
	Flow     int    `json:"flow"`
	Point    Point  `json:"point"`
	Sequence int    `json:"sequence"`
	Status   int    `json:"status"`
	Stored   *bool  `json:"stored,omitempty"`
	Code     string `json:"code,omitempty"`
	Message  string `json:"message,omitempty"`
}

// Problem is the error shape of the API.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}
