package measure

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Host is one end of what is measured.
type Host interface {
	// Address is where the host is reached over the link.
	Address() string
	// Within calls a function in the host's namespace. Sockets that it opens stay there.
	Within(call func() error) error
}

// Idle is what probes of a link see that carries nothing else.
type Idle struct {
	Sent int
	Rtts []time.Duration // of those that came back
}

// ProbeBytes makes a probe's IP packet as long as that of ping.
const ProbeBytes = 56

// Probe sends UDP probes from the receiver to the sender, which echoes them, and waits for the last.
func Probe(ctx context.Context, receiver, sender Host, probes int, spacing, patience time.Duration) (Idle, error) {
	echo, err := listenUDP(sender)
	if err != nil {
		return Idle{}, err
	}
	defer func() { _ = echo.Close() }()
	probe, err := listenUDP(receiver)
	if err != nil {
		return Idle{}, err
	}
	defer func() { _ = probe.Close() }()
	go reflect(echo)
	began := time.Now()
	go func() {
		text := make([]byte, ProbeBytes)
		for i := range probes {
			time.Sleep(time.Until(began.Add(time.Duration(i) * spacing)))
			binary.BigEndian.PutUint64(text, uint64(time.Since(began)))
			_, _ = probe.WriteTo(text, echo.LocalAddr()) // a probe that cannot be sent is a lost one
		}
	}()
	stop := context.AfterFunc(ctx, func() { _ = probe.Close() })
	defer stop()
	rtts, err := collect(probe, probes, began, began.Add(time.Duration(probes)*spacing+patience))
	if ctx.Err() != nil {
		return Idle{}, ctx.Err()
	}
	return Idle{probes, rtts}, err
}

func listenUDP(host Host) (conn net.PacketConn, err error) {
	err = host.Within(func() error {
		conn, err = net.ListenPacket("udp", net.JoinHostPort(host.Address(), "0"))
		return err
	})
	return conn, err
}

func reflect(conn net.PacketConn) {
	text := make([]byte, ProbeBytes)
	for {
		n, from, err := conn.ReadFrom(text)
		if err != nil {
			return
		}
		_, _ = conn.WriteTo(text[:n], from)
	}
}

// collect takes echoes in until all have come or it is too late.
func collect(conn net.PacketConn, probes int, began, end time.Time) (rtts []time.Duration, err error) {
	if err := conn.SetReadDeadline(end); err != nil {
		return nil, fmt.Errorf("limit the wait for probes: %w", err)
	}
	text := make([]byte, ProbeBytes)
	for len(rtts) < probes {
		if _, _, err := conn.ReadFrom(text); errors.Is(err, os.ErrDeadlineExceeded) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("receive a probe: %w", err)
		}
		rtts = append(rtts, time.Since(began)-time.Duration(binary.BigEndian.Uint64(text)))
	}
	return rtts, nil
}

// Loaded is what one TCP flow sees that has the link to itself.
type Loaded struct {
	RateBps            []float64 // delivered, per second of the flow
	Rtts               []time.Duration
	RetransmittedRatio float64 // of the segments sent
}

// Load downloads over one TCP flow with Cubic from the sender for a time.
func Load(ctx context.Context, receiver, sender Host, lasting time.Duration) (Loaded, error) {
	var loaded Loaded
	listener, err := listenCubic(sender)
	if err != nil {
		return loaded, err
	}
	defer func() { _ = listener.Close() }()
	var down net.Conn
	err = receiver.Within(func() error {
		down, err = net.DialTimeout("tcp", listener.Addr().String(), 10*time.Second)
		return err
	})
	if err != nil {
		return loaded, fmt.Errorf("dial the sender: %w", err)
	}
	defer func() { _ = down.Close() }()
	up, err := listener.AcceptTCP()
	if err != nil {
		return loaded, fmt.Errorf("accept the receiver: %w", err)
	}
	defer func() { _ = up.Close() }()
	go pour(up)
	go func() { _, _ = io.Copy(io.Discard, down) }()
	if err := loaded.follow(ctx, up, lasting); err != nil {
		return loaded, err
	}
	info, err := tcpInfo(up)
	if err != nil {
		return loaded, err
	}
	loaded.RetransmittedRatio = float64(info.Total_retrans) / max(1, float64(info.Segs_out))
	return loaded, nil
}

// follow reads the sender's TCP_INFO ten times a second. What was delivered counts when it was acknowledged, selectively
// or not: what the receiver could read stands still and leaps when packets were lost.
func (l *Loaded) follow(ctx context.Context, sender *net.TCPConn, lasting time.Duration) error {
	const perSecond = 10
	ticker := time.NewTicker(time.Second / perSecond)
	defer ticker.Stop()
	var before uint32
	for i := range int(lasting.Seconds() * perSecond) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		info, err := tcpInfo(sender)
		if err != nil {
			return err
		}
		if i%perSecond == 0 {
			l.RateBps = append(l.RateBps, 0)
		}
		l.RateBps[i/perSecond] += float64(info.Delivered-before) * float64(info.Snd_mss) * 8
		before = info.Delivered
		l.Rtts = append(l.Rtts, time.Duration(info.Rtt)*time.Microsecond)
	}
	return nil
}

// listenCubic listens on a sender; the connections that it accepts inherit the congestion control.
func listenCubic(host Host) (listener *net.TCPListener, err error) {
	err = host.Within(func() error {
		if listener, err = net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(host.Address())}); err != nil {
			return err
		}
		return control(listener, func(fd int) error {
			return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic")
		})
	})
	if err != nil {
		return nil, fmt.Errorf("listen on the sender with cubic: %w", err)
	}
	return listener, nil
}

func pour(conn net.Conn) {
	block := make([]byte, 128<<10)
	for {
		if _, err := conn.Write(block); err != nil {
			return
		}
	}
}

func tcpInfo(conn *net.TCPConn) (info *unix.TCPInfo, err error) {
	err = control(conn, func(fd int) error {
		info, err = unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read TCP_INFO: %w", err)
	}
	return info, nil
}

// control calls a function with a socket's descriptor.
func control(socket syscall.Conn, call func(fd int) error) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = call(int(fd)) }); err != nil {
		return err
	}
	return inner
}
