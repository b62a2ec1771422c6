package pump

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/pathtrace/pathtest"
	"downlink/agents/internal/server/linkcontrol"
)

func TestALinkNamesItsPathTraceAndHowLongItIs(t *testing.T) {
	over := along(t, pathtest.Chain(3, 3*ms, 3*ms, 20e6, 0, 0, 90*time.Second))
	found := (&Pump{options: Options{Name: "leo", Profile: over}}).Describe()
	require.Equal(t, linkcontrol.Link{Name: "leo", Profile: "east-west", PathTrace: &linkcontrol.PathTrace{Name: "east-west", LastsUs: 90e6}},
		found)
	require.Nil(t, (&Pump{options: Options{Name: "ground", Profile: stormy()}}).Describe().PathTrace)
}
