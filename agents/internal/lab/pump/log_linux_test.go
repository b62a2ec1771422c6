package pump

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

type brokenDisk struct{}

func (brokenDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestALogThatCannotBeWrittenIsNamedAtTheEnd(t *testing.T) {
	log := startLog(brokenDisk{})
	for range 3 * logRoom {
		log.add([]logRow{{}})
	}
	require.ErrorContains(t, log.close(), "no space left")
}
