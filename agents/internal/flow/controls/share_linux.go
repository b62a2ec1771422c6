package controls

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"downlink/agents/internal/bpf"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
)

// Registration is per kernel, not per namespace: two agents on one kernel meet the same name. When the other's control
// is the same program with the same options, holding its link is as good as an own registration, and it lasts
// until the last holder has gone.

// errOtherOptions means that the name is taken by something else than what was asked for.
var errOtherOptions = errors.New("its options or its version differ from what is asked for")

const constantsMap = ".rodata"

// join holds a registration that another process made. mine is the same control, loaded but not registered.
func (c *Control) join(mine *ebpf.Collection) (*Loaded, error) {
	held, ops, err := findRegistration(c.Name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = ops.Close() }()
	theirs, err := mapsBehind(ops, mine)
	if err == nil && !sameConstants(mine.Maps[constantsMap], theirs.Maps[constantsMap]) {
		err = errOtherOptions
	}
	if err != nil {
		theirs.Close()
		return nil, errors.Join(err, held.Close())
	}
	return &Loaded{Control: *c, objects: theirs, link: held}, nil
}

// findRegistration looks for the link that holds a control of this name, and its table of entries.
func findRegistration(name string) (link.Link, *ebpf.Map, error) {
	var links link.Iterator
	defer links.Close()
	for links.Next() {
		info, err := links.Link.Info()
		if err != nil || info.Type != link.StructOpsType {
			continue
		}
		ops, err := opsOf(links.Link)
		if err != nil {
			continue
		}
		if about, err := ops.Info(); err == nil && about.Name == name {
			return links.Take(), ops, nil
		}
		_ = ops.Close()
	}
	if err := links.Err(); err != nil {
		return nil, nil, fmt.Errorf("look for who holds %s: %w", name, err)
	}
	return nil, nil, errors.New("no process of an agent holds it")
}

// opsOf opens the table that a struct_ops link registers. The library does not tell it; the kernel's fdinfo does.
func opsOf(held link.Link) (*ebpf.Map, error) {
	descriptor, ok := held.(interface{ FD() int })
	if !ok {
		return nil, errors.New("a link without a descriptor")
	}
	content, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(descriptor.FD()))
	if err != nil {
		return nil, err
	}
	_, after, found := strings.Cut(string(content), "map_id:")
	if !found {
		return nil, errors.New("a link without a map")
	}
	line, _, _ := strings.Cut(after, "\n")
	id, err := strconv.ParseUint(strings.TrimSpace(line), 10, 32)
	if err != nil {
		return nil, err
	}
	return ebpf.NewMapFromID(ebpf.MapID(id))
}

// mapsBehind opens the maps that a registered control's entries use, if they are our programs. Not each entry uses the
// map of the options.
func mapsBehind(ops *ebpf.Map, mine *ebpf.Collection) (*ebpf.Collection, error) {
	found := &ebpf.Collection{Maps: map[string]*ebpf.Map{}, Programs: map[string]*ebpf.Program{}}
	programs, err := entriesOf(ops)
	if err != nil {
		return found, err
	}
	for _, program := range programs {
		if err := addMapsOf(program, found.Maps, mine); err != nil {
			return found, err
		}
	}
	if found.Maps[bpf.ProbeMapRings] == nil || found.Maps[bpf.ProbeMapTallies] == nil {
		return found, errOtherOptions
	}
	return found, nil
}

// addMapsOf opens the maps of a program that are not among the found ones yet.
func addMapsOf(number ebpf.ProgramID, found map[string]*ebpf.Map, mine *ebpf.Collection) error {
	program, err := ebpf.NewProgramFromID(number)
	if err != nil {
		return err
	}
	defer func() { _ = program.Close() }()
	info, err := program.Info()
	if err != nil {
		return err
	}
	if !isAmong(mine.Programs, info.Tag) {
		return errOtherOptions
	}
	ids, _ := info.MapIDs()
	for _, id := range ids {
		m, err := ebpf.NewMapFromID(id)
		if err != nil {
			return err
		}
		about, err := m.Info()
		if err != nil {
			return errors.Join(err, m.Close())
		}
		name := generalName(about.Name)
		if found[name] != nil {
			_ = m.Close()
			continue
		}
		found[name] = m
	}
	return nil
}

// isAmong tells by the kernel's digest of its instructions whether a program is one of these.
func isAmong(programs map[string]*ebpf.Program, tag string) bool {
	for _, program := range programs {
		if info, err := program.Info(); err == nil && info.Tag == tag {
			return true
		}
	}
	return false
}

// generalName undoes the prefix that some loaders put before the names of data sections.
func generalName(name string) string {
	if strings.HasSuffix(name, constantsMap) {
		return constantsMap
	}
	return name
}

// entriesOf answers the programs of the table: where a member is a function, reading the table gives a program's id.
func entriesOf(ops *ebpf.Map) ([]ebpf.ProgramID, error) {
	kernel, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, err
	}
	var value *btf.Struct
	if err := kernel.TypeByName("bpf_struct_ops_tcp_congestion_ops", &value); err != nil {
		return nil, err
	}
	content, err := ops.LookupBytes(uint32(0))
	if err != nil {
		return nil, err
	}
	var found []ebpf.ProgramID
	for _, outer := range value.Members {
		table, ok := btf.As[*btf.Struct](outer.Type)
		if !ok || outer.Name != "data" {
			continue
		}
		for _, m := range table.Members {
			at := int(outer.Offset.Bytes() + m.Offset.Bytes())
			if !isFunction(m.Type) || at+8 > len(content) {
				continue
			}
			if number := binary.NativeEndian.Uint64(content[at:]); number != 0 {
				found = append(found, ebpf.ProgramID(number))
			}
		}
	}
	return found, nil
}

func isFunction(member btf.Type) bool {
	pointer, ok := btf.As[*btf.Pointer](member)
	if !ok {
		return false
	}
	_, ok = btf.As[*btf.FuncProto](pointer.Target)
	return ok
}

func sameConstants(mine, theirs *ebpf.Map) bool {
	if mine == nil || theirs == nil {
		return mine == theirs
	}
	ours, err := mine.LookupBytes(uint32(0))
	if err != nil {
		return false
	}
	other, err := theirs.LookupBytes(uint32(0))
	return err == nil && bytes.Equal(ours, other)
}
