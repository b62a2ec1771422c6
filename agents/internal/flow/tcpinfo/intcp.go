package tcpinfo

import "slices"

// EndsHop is a relay's, in a list of those who record a field.
const EndsHop Ends = "hop"

// RelayFields are the columns of a split flow's relay beside those of the connection on which it sends.
var RelayFields = []Field{
	{"received_bytes", "bytes", EndsHop, 0, nil},
	{"backlog_bytes", "bytes", EndsHop, 0, nil},
}

// EndsSites is the table of an emulated link's sites, in the list of fields.
const EndsSites Ends = "sites"

// SiteNames are the columns of that table, in the order of docs/fields.csv.
var SiteNames = []string{
	FieldElapsed, "site_place", "site_node", "site_arrived_bytes", "site_sent_bytes", "site_repaired_bytes", "site_lost_packets",
	"site_hit_bytes", "site_asked_bps", "site_granted_bps", "site_backlog_bytes", "site_rtt_us", "site_queue_us",
}

// intcpFields say who records what of an INTCP flow, in the order of docs/fields.csv.
var intcpFields = []struct {
	name string
	ends []Ends
}{
	{FieldElapsed, []Ends{EndsSender, EndsReceiver, EndsHop}},
	{"received_bytes", []Ends{EndsReceiver}},
	{"sent_bytes", []Ends{EndsSender, EndsHop}},
	{"retransmitted_bytes", []Ends{EndsSender, EndsHop}},
	{FieldAppBytes, []Ends{EndsSender, EndsReceiver, EndsHop}},
	{"arrived_bytes", []Ends{EndsReceiver, EndsHop}},
	{"consumer_rtt_us", []Ends{EndsReceiver}},
	{"window_bytes", []Ends{EndsReceiver}},
	{"outstanding_bytes", []Ends{EndsReceiver, EndsHop}},
	{"requested_bytes", []Ends{EndsReceiver}},
	{"asked_again_bytes", []Ends{EndsReceiver}},
	{"duplicate_bytes", []Ends{EndsReceiver}},
	{"consumer_timeouts", []Ends{EndsReceiver}},
	{"hop_rtt_us", []Ends{EndsReceiver, EndsHop}},
	{"hop_min_rtt_us", []Ends{EndsReceiver, EndsHop}},
	{"hop_queue_us", []Ends{EndsReceiver, EndsHop}},
	{"asked_rate_bps", []Ends{EndsReceiver, EndsHop}},
	{"hop_lost_packets", []Ends{EndsReceiver, EndsHop}},
	{"interests", []Ends{EndsReceiver, EndsHop}},
	{"repeated_interests", []Ends{EndsReceiver, EndsHop}},
	{"granted_rate_bps", []Ends{EndsSender, EndsHop}},
	{"backlog_bytes", []Ends{EndsSender, EndsHop}},
	{"lease_expirations", []Ends{EndsSender, EndsHop}},
	{"merged_interests", []Ends{EndsSender, EndsHop}},
	{"cache_bytes", []Ends{EndsHop}},
	{"cache_hit_bytes", []Ends{EndsHop}},
	{"relay_flows", []Ends{EndsHop}},
}

// INTCPFields are those that one place of an INTCP flow records.
func INTCPFields(end Ends) (fields []Field) {
	for _, each := range intcpFields {
		if slices.Contains(each.ends, end) {
			fields = append(fields, Field{Name: each.name, Ends: end})
		}
	}
	return fields
}

// INTCPRow puts values by their names into a row of these fields; what has no value is 0.
func INTCPRow(end Ends, values map[string]int64, row []int64) {
	at := 0
	for _, each := range intcpFields {
		if slices.Contains(each.ends, end) {
			row[at] = values[each.name]
			at++
		}
	}
}
