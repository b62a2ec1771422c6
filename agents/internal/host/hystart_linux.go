package host

import (
	"os"
	"strconv"
	"strings"
)

// HystartExits counts how often HyStart has ended slow start in this network namespace, by detector.
type HystartExits struct {
	Train int64
	Delay int64
}

const netstatPath = "/proc/net/netstat"

// ReadHystartExits is false where the kernel does not count.
func ReadHystartExits() (HystartExits, bool) {
	content, err := os.ReadFile(netstatPath)
	if err != nil {
		return HystartExits{}, false
	}
	counters := netstat(string(content), "TcpExt:")
	train, hasTrain := counters["TCPHystartTrainDetect"]
	delay, hasDelay := counters["TCPHystartDelayDetect"]
	return HystartExits{Train: train, Delay: delay}, hasTrain && hasDelay
}

// netstat pairs a group's line of names with its line of values.
func netstat(content, group string) map[string]int64 {
	var lines [][]string
	for line := range strings.Lines(content) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == group {
			lines = append(lines, fields[1:])
		}
	}
	counters := map[string]int64{}
	if len(lines) != 2 || len(lines[0]) != len(lines[1]) {
		return counters
	}
	for i, name := range lines[0] {
		if value, err := strconv.ParseInt(lines[1][i], 10, 64); err == nil {
			counters[name] = value
		}
	}
	return counters
}
