package trial

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/intcp"
	"downlink/agents/internal/intcp/intcpsocket"
	"downlink/agents/internal/server/protocol"
)

// Bounds of INTCP's options.
const (
	leastBufferBytes = 1500 // unless it is 0: what the hops need
	leastWindowBytes = intcp.MaxUnitBytes
	mostWindowBytes  = 64 << 20
	mostHolePackets  = 16
	mostBuffer       = 1 << 31
)

// INTCPOptions are what a flow over INTCP takes, whose relays' buffers may hold so much; 0: as much as anybody asks for.
func INTCPOptions(mostBufferBytes int64) map[string]protocol.ControlOption {
	if mostBufferBytes == 0 {
		mostBufferBytes = mostBuffer
	}
	of := func(choices ...string) protocol.ControlOption { return protocol.ControlOption{Choices: choices} }
	between := func(least, most int64) protocol.ControlOption {
		return protocol.ControlOption{Choices: []string{}, Min: uint32(least), Max: uint32(min(most, mostBuffer))}
	}
	least := int64(0)
	if mostBufferBytes < intcp.MostRoom { // too little for what hops may need
		least = leastBufferBytes
	}
	return map[string]protocol.ControlOption{
		"buffer_bytes": between(least, mostBufferBytes), "window_bytes": between(leastWindowBytes, mostWindowBytes),
		"cache": of("on", "off"), "recovery": of("hop", "end"), "rate": of("hop", "end"), "handover": of("ask", "timeout"),
		"hole_packets": between(1, mostHolePackets),
	}
}

// INTCPFacts are what an agent says of INTCP: the options, and that flows may name the content of others.
func INTCPFacts(mostBufferBytes int64) map[string]protocol.ControlOption {
	facts := INTCPOptions(mostBufferBytes)
	facts["content"] = protocol.ControlOption{Choices: []string{}, Min: 1, Max: mostHops}
	return facts
}

// intcpOptions reads the options of an order.
func intcpOptions(given map[string]any) (options intcp.Options, err error) {
	options = intcp.DefaultOptions()
	known := INTCPOptions(0)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		option, isKnown := known[name]
		if !isKnown {
			return options, fmt.Errorf("INTCP has no option %q", name)
		}
		text, isText := given[name].(string)
		number, isNumber := given[name].(float64)
		switch {
		case len(option.Choices) > 0 && (!isText || !slices.Contains(option.Choices, text)):
			return options, fmt.Errorf("%s must be one of %v, not %v", name, option.Choices, given[name])
		case len(option.Choices) == 0 && !(isNumber && number >= float64(option.Min) && number <= float64(option.Max) &&
			number == float64(int64(number))):
			return options, fmt.Errorf("%s must be a whole number from %d to %d, not %v", name, option.Min, option.Max, given[name])
		}
		isFirst := len(option.Choices) > 0 && text == option.Choices[0]
		switch name {
		case "buffer_bytes":
			if number > 0 && number < leastBufferBytes {
				return options, fmt.Errorf("buffer_bytes must be 0 or at least %d, not %v", leastBufferBytes, number)
			}
			options.BufferBytes = int(number)
		case "window_bytes":
			options.WindowBytes = int(number)
		case "hole_packets":
			options.HolePackets = int(number)
		case "cache":
			options.SharesCache = isFirst
		case "recovery":
			options.RecoversByHop = isFirst
		case "rate":
			options.ControlsByHop = isFirst
		case "handover":
			options.AsksOnHandover = isFirst
		}
	}
	return options, nil
}

// overINTCP carries a flow at any of its places over the run's node.
func (f *flowRun) overINTCP(ports *ports, peer string) transfer.Carrier {
	f.actualCC, f.sampling = f.flow.Transport.Name(), protocol.SamplingPolled
	limits := f.trial.limits()
	stream, _ := streamOf(f.flow) // relays have none; that of ends was checked when the port was opened
	plan := intcpsocket.FlowPlan{
		Home: ports.home, Content: f.trial.content(f.flow), IsShared: f.trial.isShared(f.flow), Stream: stream, Stop: f.trial.stop(f.flow),
		Limits: limits, Begin: f.begin(),
		Patience: limits.DialLimit(), Upstream: peer, AppBytes: f.appBytes, Budget: f.trial.budget, Offer: offerOf(f.flow),
	}
	look := func(row []int64) { f.readNode(ports.home, row) }
	if ports.sites != nil {
		plan.Seat, look = ports.sites, func(row []int64) { f.readSites(ports.sites, row) }
	}
	switch f.flow.Role {
	case protocol.RoleSender:
		plan.Patience += connectSlack
		plan.Sample = f.recordRows(tcpinfo.INTCPFields(tcpinfo.EndsSender), look)
		f.watchUnits(ports.home)
		f.trial.showContent(f.flow, ports.home)
		return intcpsocket.NewSender(plan)
	case protocol.RoleRelay:
		plan.Sample = f.recordRows(tcpinfo.INTCPFields(tcpinfo.EndsHop), look)
		if ports.sites != nil && f.trial.order.Sampling.Sites {
			plan.Sample = beside(plan.Sample, f.recordSites(ports.sites))
		}
		return intcpsocket.NewRelay(plan)
	case protocol.RoleReceiver:
	}
	var receiver *intcpsocket.Receiver
	plan.Sample = f.recordRows(tcpinfo.INTCPFields(tcpinfo.EndsReceiver), func(row []int64) { f.readConsumer(receiver, ports.home, row) })
	f.watchUnits(ports.home)
	receiver = intcpsocket.NewReceiver(plan)
	f.consumer = receiver
	return receiver
}

func offerOf(flow protocol.Flow) *transfer.Offer {
	if flow.Offer == nil {
		return nil
	}
	return &transfer.Offer{MessageBytes: flow.Offer.MessageBytes, Every: time.Duration(flow.Offer.EveryMs) * time.Millisecond}
}

// recordRows gives what records rows of these fields at the flow's interval until its context is done.
func (f *flowRun) recordRows(fields []tcpinfo.Field, read func(row []int64)) func(ctx context.Context) {
	return func(ctx context.Context) {
		recorder := tcpinfo.NewRecorder(tcpinfo.Extra{Fields: fields}.Names(), chunk.MaxSamples, f.keepOrBreakOff)
		every := interval(f.trial.order, f.flow.Role)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		late := lateness{every: every, due: time.Now()}
		last := int64(-1) // a neighbour whose clock is a little ahead may begin before this one's zero: rows count from there
		for {
			if elapsed := time.Since(f.trial.zero).Microseconds(); elapsed > last {
				late.note(time.Now())
				last = elapsed
				read(recorder.Row)
				recorder.Row[0] = elapsed
				recorder.Add()
			}
			if ctx.Err() != nil {
				break
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
			}
		}
		f.stats, _ = recorder.Close() // keepOrBreakOff has said what went wrong
		f.stats.LatenessMeanUs, f.stats.LatenessMaxUs = late.mean(), late.most
	}
}

// lateness is how much later than due rows were read.
type lateness struct {
	every     time.Duration
	due       time.Time
	sum, most float64
	n         int
}

func (l *lateness) note(now time.Time) {
	late := max(0, now.Sub(l.due))
	l.due = l.due.Add((late/l.every + 1) * l.every)
	l.sum += float64((late % l.every).Microseconds())
	l.most = max(l.most, float64(late.Microseconds()))
	l.n++
}

func (l *lateness) mean() float64 { return l.sum / float64(max(1, l.n)) }

// readNode writes the state of a sender or relay into a row, in the order of its fields.
func (f *flowRun) readNode(home *intcpsocket.Home, row []int64) {
	content := f.trial.content(f.flow)
	var look intcp.Look
	var hop intcp.HopCounts
	var node intcp.NodeCounts
	home.Do(func(now time.Duration, n *intcp.Node) {
		look, hop, node = n.Look(now, content.Run, content.Name), n.HopCounts(content.Run), n.Counts()
	})
	f.writeNode(&look, &hop, &node, row)
}

// readSites writes the state of the relays of an emulated link into a row.
func (f *flowRun) readSites(s *sites, row []int64) {
	seen := s.client.Seen(f.trial.content(f.flow).Name)
	f.writeNode(&seen.Look, &seen.Hop, &seen.Node, row)
}

func (f *flowRun) writeNode(look *intcp.Look, hop *intcp.HopCounts, node *intcp.NodeCounts, row []int64) {
	content := f.trial.content(f.flow)
	values := hopValues(look, hop)
	values["app_bytes"] = f.appBytes.Load()
	values["sent_bytes"], values["retransmitted_bytes"] = int64(look.SentBytes), int64(look.AgainBytes)
	values["granted_rate_bps"], values["backlog_bytes"] = int64(look.GrantedBps), int64(look.WaitingBytes)
	values["lease_expirations"], values["merged_interests"] = int64(look.Expired), int64(look.Merged)
	values["cache_bytes"], values["cache_hit_bytes"] = int64(node.HeldBytes), int64(look.FromCache)*int64(content.UnitBytes)
	values["relay_flows"] = int64(node.Flows)
	tcpinfo.INTCPRow(f.nodeEnd(), values, row)
}

func hopValues(look *intcp.Look, hop *intcp.HopCounts) map[string]int64 {
	rtt, least := hop.RTT, hop.LeastRTT
	if hop.Packets == 0 {
		rtt, least = 0, 0
	}
	return map[string]int64{
		"arrived_bytes": int64(look.NewBytes), "outstanding_bytes": int64(look.PendingBytes),
		"hop_rtt_us": rtt.Microseconds(), "hop_min_rtt_us": least.Microseconds(), "hop_queue_us": max(0, hop.Queue.Microseconds()),
		"asked_rate_bps": int64(look.AskedBps), "hop_lost_packets": int64(hop.Lost),
		"interests": int64(hop.Interests), "repeated_interests": int64(hop.RepeatedInterests),
	}
}

// readConsumer writes the state of a receiver into a row.
func (f *flowRun) readConsumer(receiver *intcpsocket.Receiver, home *intcpsocket.Home, row []int64) {
	content := f.trial.content(f.flow)
	unit := int64(content.UnitBytes)
	counts, window := receiver.Consumer()
	var look intcp.Look
	var hop intcp.HopCounts
	home.Do(func(now time.Duration, n *intcp.Node) {
		look, hop = n.Look(now, content.Run, content.Name), n.HopCounts(content.Run)
	})
	values := hopValues(&look, &hop)
	values["app_bytes"], values["received_bytes"] = int64(counts.InOrderBytes), int64(counts.InOrderBytes)
	values["arrived_bytes"] = int64(counts.ArrivedBytes)
	if counts.ArrivedBytes > 0 {
		values["consumer_rtt_us"] = counts.RTT.Microseconds()
	}
	values["window_bytes"], values["outstanding_bytes"] = int64(window), int64(counts.Outstanding)*unit
	values["requested_bytes"] = int64(counts.AskedUnits+counts.AskedAgainUnits) * unit
	values["asked_again_bytes"], values["duplicate_bytes"] = int64(counts.AskedAgainUnits)*unit, int64(counts.Duplicates)*unit
	values["consumer_timeouts"] = int64(counts.Timeouts)
	tcpinfo.INTCPRow(tcpinfo.EndsReceiver, values, row)
}

func (f *flowRun) nodeEnd() tcpinfo.Ends {
	if f.flow.Role == protocol.RoleRelay {
		return tcpinfo.EndsHop
	}
	return tcpinfo.EndsSender
}
