package controls

import (
	"testing"
	"time"

	"downlink/agents/internal/hosttest"
	"downlink/agents/internal/socket"

	"github.com/stretchr/testify/require"
)

// A path far faster than any satellite link: records must keep up without a drop.
func TestNoRecordIsLostOnAFastPath(t *testing.T) {
	p := &path{sender: hosttest.NewNamespace(t), receiver: hosttest.NewNamespace(t)}
	hosttest.Join(t, p.sender, p.receiver, []string{"10.77.0.1/24"}, []string{"10.77.0.2/24"})
	loaded := load(t, "dl_cubic_nohs", nil)
	sender, receiver := p.connect(t, "dl_cubic_nohs")
	require.NoError(t, socket.LimitPacing(sender, 1_000_000_000))
	records, tally := record(t, loaded, sender, func() { sendFor(sender, receiver, time.Second) })
	require.Zero(t, tally.Dropped)
	require.EqualValues(t, tally.Acks, len(records))
	require.Greater(t, deliveredBps(records, 0.2, 1), 500e6)
	for i := 1; i < len(records); i++ {
		require.Equal(t, records[i-1].Acks+1, records[i].Acks, "numbers tell a gap")
	}
}
