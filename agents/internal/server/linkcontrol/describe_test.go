package linkcontrol_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/linkserver"
	"downlink/agents/internal/server/linkcontrol"
)

// idle is a link that begins no course: its sessions wait for a restart.
type idle struct{ linkcontrol.Link }

func (l idle) Describe() linkcontrol.Link { return l.Link }

func (idle) Restart(time.Time, uint64, *linkcontrol.Window) (linkserver.Session, error) {
	return nil, errors.New("no course")
}

func TestALinkSaysWhatItIsBesideASessionAndTakesNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "link.sock")
	wanted := linkcontrol.Link{Name: "leo", Profile: "over-the-pole", PathTrace: &linkcontrol.PathTrace{Name: "pole", LastsUs: 86_400e6}}
	server, err := linkserver.Listen(path, idle{wanted})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	for range 200 {
		found, err := linkcontrol.Describe(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, wanted, found)
		session, err := linkcontrol.Open(t.Context(), path)
		require.NoError(t, err, "a link that was asked is free again")
		found, err = linkcontrol.Describe(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, wanted, found)
		_, err = linkcontrol.Open(t.Context(), path)
		require.ErrorIs(t, err, linkcontrol.ErrBusy)
		require.NoError(t, session.Leave())
	}
}

func TestALinkThatIsAwaySaysNothing(t *testing.T) {
	_, err := linkcontrol.Describe(t.Context(), filepath.Join(t.TempDir(), "nobody.sock"))
	require.ErrorContains(t, err, "reach the link's control socket")
}
