package settings

import "sort"

// Scope says how far a change reaches.
type Scope int

// The scopes, from narrow to wide.
const (
	ScopeRoute Scope = iota
	ScopeNamespace
	ScopeHost
)

var table = map[string]Scope{
	"net.ipv4.tcp_rmem":                  ScopeNamespace,
	"net.ipv4.tcp_wmem":                  ScopeNamespace,
	"net.ipv4.tcp_mem":                   ScopeHost,
	"net.ipv4.tcp_moderate_rcvbuf":       ScopeNamespace,
	"net.ipv4.tcp_no_metrics_save":       ScopeNamespace,
	"net.ipv4.tcp_slow_start_after_idle": ScopeNamespace,
	"net.ipv4.tcp_window_scaling":        ScopeNamespace,
	"net.ipv4.tcp_sack":                  ScopeNamespace,
	"net.ipv4.tcp_timestamps":            ScopeNamespace,
	"net.ipv4.tcp_ecn":                   ScopeNamespace,
	"net.core.rmem_max":                  ScopeHost,
	"net.core.wmem_max":                  ScopeHost,
	"net.core.default_qdisc":             ScopeHost,
	"tcp_cubic.hystart":                  ScopeHost,
	"tcp_cubic.hystart_detect":           ScopeHost,
	"tcp_cubic.hystart_low_window":       ScopeHost,
	"tcp_cubic.hystart_ack_delta_us":     ScopeHost,
	"tcp_cubic.beta":                     ScopeHost,
	"tcp_cubic.fast_convergence":         ScopeHost,
	"tcp_cubic.tcp_friendliness":         ScopeHost,
	"tcp_cubic.initial_ssthresh":         ScopeHost,
	RouteInitCwnd:                        ScopeRoute,
	RouteInitRwnd:                        ScopeRoute,
}

// The two route attributes.
const (
	RouteInitCwnd = "route.initcwnd"
	RouteInitRwnd = "route.initrwnd"
)

// Known tells whether an agent may change a setting at all.
func Known(name string) bool {
	_, known := table[name]
	return known
}

// Names lists all settings in alphabetical order.
func Names() []string {
	names := make([]string, 0, len(table))
	for name := range table {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
