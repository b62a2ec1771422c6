package linkcontrol

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// idle is a link that begins no course: its sessions wait for a restart.
type idle struct{ Link }

func (l idle) Describe() Link { return l.Link }

func (idle) Restart(time.Time, uint64, *Window) (Session, error) { return nil, errors.New("no course") }

func TestALinkSaysWhatItIsBesideASessionAndTakesNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "link.sock")
	wanted := Link{Name: "leo", Profile: "over-the-pole", PathTrace: &PathTrace{"pole", 86_400e6}}
	server, err := Listen(path, idle{wanted})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	for range 200 {
		found, err := Describe(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, wanted, found)
		session, err := Open(t.Context(), path)
		require.NoError(t, err, "a link that was asked is free again")
		found, err = Describe(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, wanted, found)
		_, err = Open(t.Context(), path)
		require.ErrorIs(t, err, ErrBusy)
		require.NoError(t, session.leave())
	}
}

func TestALinkThatIsAwaySaysNothing(t *testing.T) {
	_, err := Describe(t.Context(), filepath.Join(t.TempDir(), "nobody.sock"))
	require.ErrorContains(t, err, "reach the link's control socket")
}
