package netlab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/pathtrace/pathtest"
	"downlink/agents/internal/server/linkcontrol"
)

func TestALinkNamesItsPathTraceAndHowLongItIs(t *testing.T) {
	over := profileOf(t, []pathtest.Lasting{pathtest.Chain(3, 3*ms, 3*ms, 20e6, 0, 0, 90*time.Second)})
	found := (&line{name: "leo", profile: over}).Describe()
	require.Equal(t, linkcontrol.Link{Name: "leo", Profile: "east-west", PathTrace: &linkcontrol.PathTrace{Name: "east-west", LastsUs: 90e6}}, found)
	require.Nil(t, (&line{name: "ground", profile: terrestrial(t)}).Describe().PathTrace)
}
