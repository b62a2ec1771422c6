package trial

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"downlink/agents/internal/server/protocol"
)

// checkPeers holds the data addresses of a start against what the order said of the senders: nothing is dialled that
// another agent made up.
func (t *Trial) checkPeers(peers map[int]string) error {
	for _, flow := range t.order.Flows {
		if flow.Role == protocol.RoleSender {
			continue
		}
		host, port, err := net.SplitHostPort(peers[flow.Flow])
		if number, numberErr := strconv.Atoi(port); err != nil || numberErr != nil || number < 1 || number > 65535 {
			return refuse("%s: %q is not the address of a data port", describe(flow), peers[flow.Flow])
		}
		if known := upstream(flow).Host; known != "" && !isSameHost(host, known) {
			return refuse("%s: its data port is said to be at %s, and its data host is %s; nothing was dialled", describe(flow), host, known)
		}
	}
	return nil
}

func isSameHost(a, b string) bool {
	first, errFirst := netip.ParseAddr(a)
	second, errSecond := netip.ParseAddr(b)
	if errFirst != nil || errSecond != nil {
		return errFirst != nil && errSecond != nil && strings.EqualFold(a, b)
	}
	return first.Unmap() == second.Unmap()
}

// isLoopback tells whether this agent's own data host is a loopback address: only then may its peers' be.
func isLoopback(host string) bool {
	address := net.ParseIP(host)
	return address != nil && address.IsLoopback()
}
