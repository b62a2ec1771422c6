package pep

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

const (
	// mark is what a diverted packet bears, and table the routes that it takes: to this host, whatever its address.
	mark      = 0x646c
	table     = 0x646c
	ruleTable = "downlink-pep"
)

// divert hands every TCP packet that comes into the calling thread's namespace to the connection that it belongs to or,
// when it opens one, to the listener on the loopback port of its family. undo must be called in the same namespace.
func divert(ports map[int]uint16) (undo func() error, err error) {
	var undos []func() error
	undo = func() error {
		var errs []error
		for _, each := range slices.Backward(undos) {
			errs = append(errs, each())
		}
		return errors.Join(errs...)
	}
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return undo, fmt.Errorf("find loopback: %w", err)
	}
	for family, port := range ports {
		remove, err := routeMarked(family, loopback.Attrs().Index)
		undos = append(undos, remove...)
		if err != nil {
			return undo, err
		}
		rules := newRules(family, port)
		if err := rules.add(); err != nil {
			return undo, err
		}
		undos = append(undos, rules.remove)
	}
	return undo, nil
}

// routeMarked delivers marked packets locally.
func routeMarked(family, loopback int) (undo []func() error, err error) {
	size := net.IPv4len
	if family == unix.AF_INET6 {
		size = net.IPv6len
	}
	everywhere := &net.IPNet{IP: make(net.IP, size), Mask: make(net.IPMask, size)}
	route := &netlink.Route{LinkIndex: loopback, Dst: everywhere, Table: table, Type: unix.RTN_LOCAL, Scope: netlink.SCOPE_HOST,
		Family: family}
	if err := netlink.RouteAdd(route); err != nil {
		return nil, fmt.Errorf("route diverted packets to this host: %w", err)
	}
	undo = append(undo, func() error { return netlink.RouteDel(route) })
	rule := netlink.NewRule()
	rule.Family, rule.Mark, rule.Table = family, mark, table
	if err := netlink.RuleAdd(rule); err != nil {
		return undo, fmt.Errorf("choose the route of diverted packets: %w", err)
	}
	return append(undo, func() error { return netlink.RuleDel(rule) }), nil
}

// rules are those of one family in the kernel's packet filter.
type rules struct {
	table *nftables.Table
	exprs []expr.Any
}

func newRules(family int, port uint16) rules {
	kind, address := nftables.TableFamilyIPv4, net.IPv4(127, 0, 0, 1).To4()
	if family == unix.AF_INET6 {
		kind, address = nftables.TableFamilyIPv6, net.IPv6loopback
	}
	return rules{&nftables.Table{Name: ruleTable, Family: kind}, []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
		&expr.Immediate{Register: 1, Data: address},
		&expr.Immediate{Register: 2, Data: binary.BigEndian.AppendUint16(nil, port)},
		&expr.TProxy{Family: byte(kind), TableFamily: byte(kind), RegAddr: 1, RegPort: 2},
		&expr.Immediate{Register: 1, Data: binaryutil.NativeEndian.PutUint32(mark)},
		&expr.Meta{Key: expr.MetaKeyMARK, SourceRegister: true, Register: 1},
		&expr.Verdict{Kind: expr.VerdictAccept},
	}}
}

func (r rules) add() error {
	filter, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open the packet filter: %w", err)
	}
	filter.AddTable(r.table)
	chain := filter.AddChain(&nftables.Chain{
		Name: "divert", Table: r.table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityMangle,
	})
	filter.AddRule(&nftables.Rule{Table: r.table, Chain: chain, Exprs: r.exprs})
	if err := filter.Flush(); err != nil {
		return fmt.Errorf("divert TCP by the packet filter (the kernel needs nf_tables with tproxy): %w", err)
	}
	return nil
}

func (r rules) remove() error {
	filter, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open the packet filter: %w", err)
	}
	filter.DelTable(r.table)
	if err := filter.Flush(); err != nil {
		return fmt.Errorf("end the diversion: %w", err)
	}
	return nil
}
