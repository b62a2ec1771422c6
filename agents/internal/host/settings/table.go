package settings

import (
	"fmt"
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// Scope says how far a change reaches.
type Scope int

// The scopes, from narrow to wide.
const (
	ScopeRoute Scope = iota
	ScopeNamespace
	ScopeHost
)

// values are what a setting takes.
type values struct {
	scope Scope
	// count is how many whole numbers make a value, each at least the one before; 0 is a word.
	count       int
	least, most int64
}

func number(scope Scope, least, most int64) values { return values{scope, 1, least, most} }

func buffers(scope Scope) values { return values{scope, 3, leastTriple, math.MaxInt32} }

// leastTriple is a page, the kernel's own least buffer. As tcp_mem it is 16 MiB of pages: with less, the host's other
// connections stop.
const leastTriple = 4096

// table is docs/settings.csv; a test holds the two together.
var table = map[string]values{
	"net.ipv4.tcp_rmem":            buffers(ScopeNamespace),
	"net.ipv4.tcp_wmem":            buffers(ScopeNamespace),
	"net.ipv4.tcp_mem":             buffers(ScopeHost),
	"net.ipv4.tcp_moderate_rcvbuf": number(ScopeNamespace, 0, 1),
	// A threshold cached from an earlier run to the same peer would end slow start early.
	"net.ipv4.tcp_no_metrics_save":       number(ScopeNamespace, 1, 1),
	"net.ipv4.tcp_slow_start_after_idle": number(ScopeNamespace, 0, 1),
	"net.ipv4.tcp_window_scaling":        number(ScopeNamespace, 0, 1),
	"net.ipv4.tcp_sack":                  number(ScopeNamespace, 0, 1),
	"net.ipv4.tcp_timestamps":            number(ScopeNamespace, 0, 2),
	"net.ipv4.tcp_ecn":                   number(ScopeNamespace, 0, 5),
	// The kernel takes no less: SOCK_MIN_RCVBUF and SOCK_MIN_SNDBUF.
	"net.core.rmem_max":              number(ScopeHost, 2304, math.MaxInt32),
	"net.core.wmem_max":              number(ScopeHost, 4608, math.MaxInt32),
	"net.core.default_qdisc":         {scope: ScopeHost},
	"tcp_cubic.hystart":              number(ScopeHost, 0, 1),
	"tcp_cubic.hystart_detect":       number(ScopeHost, 0, 3),
	"tcp_cubic.hystart_low_window":   number(ScopeHost, 0, math.MaxInt32),
	"tcp_cubic.hystart_ack_delta_us": number(ScopeHost, 0, math.MaxInt32),
	// Out of BICTCP_BETA_SCALE = 1024 in tcp_cubic.c.
	"tcp_cubic.beta":             number(ScopeHost, 1, 1023),
	"tcp_cubic.fast_convergence": number(ScopeHost, 0, 1),
	"tcp_cubic.tcp_friendliness": number(ScopeHost, 0, 1),
	"tcp_cubic.initial_ssthresh": number(ScopeHost, 0, math.MaxInt32),
	RouteInitCwnd:                number(ScopeRoute, 1, 65_535),
	RouteInitRwnd:                number(ScopeRoute, 1, 65_535),
}

// The two route attributes.
const (
	RouteInitCwnd = "route.initcwnd"
	RouteInitRwnd = "route.initrwnd"
)

// A qdisc name is at most 15 characters (IFNAMSIZ).
var word = regexp.MustCompile(`^[a-z][a-z0-9_]{0,14}$`)

var digits = regexp.MustCompile(`^[0-9]{1,10}$`)

func (v values) accepts(text string) bool {
	if v.count == 0 {
		return word.MatchString(text)
	}
	parts := strings.Split(text, " ")
	least := v.least
	for _, part := range parts {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || !digits.MatchString(part) || n < least || n > v.most {
			return false
		}
		least = n
	}
	return len(parts) == v.count
}

func (v values) String() string {
	switch v.count {
	case 0:
		return "the name of a queueing discipline"
	case 1:
		return fmt.Sprintf("a whole number from %d to %d", v.least, v.most)
	}
	return fmt.Sprintf("%d rising whole numbers from %d to %d", v.count, v.least, v.most)
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
