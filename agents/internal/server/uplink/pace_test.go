package uplink

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// way carries at most so much of what a pace lets leave.
func carry(p *Pace, wayBps float64, windows int) (paces []float64) {
	now := time.Unix(0, 0)
	p.Begin(now)
	for range windows {
		p.Begin(now)
		now = now.Add(paceWindow)
		p.End(0, true, now.Add(-time.Nanosecond))
		p.End(int(min(p.Bps(), wayBps)*paceWindow.Seconds()/8), true, now)
		p.Begin(now)
		paces = append(paces, p.Bps())
	}
	p.End(0, false, now)
	return paces
}

func TestAFastWayIsNotPaced(t *testing.T) {
	for _, pace := range carry(NewPace(0), 100e6, 20) {
		require.True(t, math.IsInf(pace, 1))
	}
}

func TestASlowWayIsLeftAQuarterMostOfTheTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wayBps := rapid.Float64Range(60e3, 15e6).Draw(t, "way")
		paces := carry(NewPace(0), wayBps, 200)
		within := 0
		for _, pace := range paces[20:] {
			require.LessOrEqual(t, pace, 1.2*wayBps, "never far above what the way carries")
			if pace <= 0.95*wayBps {
				within++
			}
		}
		require.Greater(t, within, 3*len(paces[20:])/4)
		require.Greater(t, paces[len(paces)-1], wayBps/2, "and not far below")
	})
}

func TestWhatDidNotArriveSaysNothingOfTheWay(t *testing.T) {
	p, now := NewPace(0), time.Unix(0, 0)
	for range 20 {
		p.Begin(now)
		now = now.Add(time.Minute)
		p.End(100_000, false, now)
	}
	require.True(t, math.IsInf(p.Bps(), 1))
	p.Begin(now)
	p.Begin(now)
	p.End(1_000_000, true, now.Add(4*time.Second))
	require.True(t, math.IsInf(p.Bps(), 1), "the other request had its share of the way")
	p.End(1_000_000, true, now.Add(4*time.Second))
	require.InDelta(t, shareOfCarried*4e6, p.Bps(), 1)
}

func TestTheOwnersLimitHoldsOnEveryWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ownerBps := rapid.Int64Range(32_000, 50_000_000).Draw(t, "owner")
		for _, pace := range carry(NewPace(ownerBps), rapid.Float64Range(60e3, 200e6).Draw(t, "way"), 50) {
			require.LessOrEqual(t, pace, float64(ownerBps))
		}
	})
}

func TestAWayThatBecameFastIsFoundAgain(t *testing.T) {
	p := NewPace(0)
	carry(p, 1e6, 50)
	require.Less(t, p.Bps(), 1.2e6)
	carry(p, 100e6, 400)
	require.True(t, math.IsInf(p.Bps(), 1))
}

// No body leaves faster than its pace, however the clock of this machine runs: what was read after so long is bounded.
func TestABodyLeavesAtItsPace(t *testing.T) {
	const bps = 4e6
	body := bytes.Repeat([]byte("x"), 150_000)
	p, began, got := NewPace(bps), time.Now(), 0
	reader := &pacedReader{ctx: context.Background(), pace: p, body: bytes.NewReader(body)}
	buffer := make([]byte, 64<<10)
	for {
		n, err := reader.Read(buffer)
		got += n
		require.LessOrEqual(t, float64(got), paceBurst+bps/8*time.Since(began).Seconds()+1)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	require.Equal(t, len(body), got)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := (&pacedReader{ctx: ctx, pace: p, body: bytes.NewReader(body)}).Read(buffer)
	require.ErrorIs(t, err, context.Canceled)
}
