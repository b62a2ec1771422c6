package dish

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"downlink/agents/internal/testing/dishtest"
	"downlink/agents/internal/testing/fuzztest"
)

const (
	aStatus = `{"dish_get_status": {"obstruction_stats": {"fraction_obstructed": 0.25}, "device_state": {"uptime_s": 3600},
		"pop_ping_latency_ms": 31.5}}`
	aHistory = `{"dish_get_history": {"current": 900, "pop_ping_drop_rate": [0, 0.5, 1],
		"outages": [{"start_timestamp_ns": 1456000000000000000, "duration_ns": 2000000000}]}}`
)

// described are the files by which the dish of the tests describes itself.
func described(t require.TestingT) map[string]*descriptorpb.FileDescriptorProto {
	files := map[string]*descriptorpb.FileDescriptorProto{}
	for _, text := range dishtest.Description {
		file := &descriptorpb.FileDescriptorProto{}
		require.NoError(t, prototext.Unmarshal([]byte(text), file))
		files[file.GetName()] = file
	}
	return files
}

// answerOf is what the dish of the tests sends for this JSON.
func answerOf(t require.TestingT, text string) []byte {
	handle, err := handleIn(described(t))
	require.NoError(t, err)
	response := dynamicpb.NewMessage(handle.Output())
	require.NoError(t, protojson.Unmarshal([]byte(text), response))
	content, err := proto.Marshal(response)
	require.NoError(t, err)
	return content
}

// readAll goes the way of every question; what comes of it can be sent.
func readAll(t *testing.T, handle protoreflect.MethodDescriptor, reader *Reader, answer []byte) {
	for _, question := range []string{"get_status", "get_history"} {
		if _, err := requestFor(handle, question); err != nil {
			continue
		}
		response := dynamicpb.NewMessage(handle.Output())
		if proto.Unmarshal(answer, response) != nil {
			return
		}
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		if status, err := partOf(response, "dish_get_status"); err == nil {
			_, err = json.Marshal(readStatus(status, now))
			require.NoError(t, err)
		}
		if history, err := partOf(response, "dish_get_history"); err == nil {
			_, err = json.Marshal(reader.readHistory(history, now))
			require.NoError(t, err)
		}
	}
}

// FuzzDescription looks for what a dish may say of itself that makes the agent panic, then or at its answers.
func FuzzDescription(f *testing.F) {
	answers := [][]byte{answerOf(f, aStatus), answerOf(f, aHistory)}
	files := described(f)
	service, err := proto.Marshal(files["device.proto"])
	require.NoError(f, err)
	messages, err := proto.Marshal(files["messages.proto"])
	require.NoError(f, err)
	fuzztest.Add(f, service, messages)
	f.Fuzz(func(t *testing.T, content []byte) {
		file := &descriptorpb.FileDescriptorProto{}
		if proto.Unmarshal(content, file) != nil {
			return
		}
		files := described(t)
		files[file.GetName()] = file
		_ = missing(files)
		handle, err := handleIn(files)
		if err != nil {
			return
		}
		for _, answer := range answers {
			readAll(t, handle, NewReader(nil), answer)
		}
	})
}

// FuzzAnswers looks for an answer that makes the agent panic, or of which a number comes that cannot be sent.
func FuzzAnswers(f *testing.F) {
	fuzztest.Add(f, answerOf(f, aStatus), answerOf(f, aHistory))
	handle, err := handleIn(described(f))
	require.NoError(f, err)
	reader := NewReader(nil) // one for all: what it has heard before matters
	f.Fuzz(func(t *testing.T, answer []byte) { readAll(t, handle, reader, answer) })
}

// statusWith is what the dish of the tests says in a status that has these fields too.
func statusWith(t *testing.T, text string, fields ...string) map[string]float64 {
	t.Helper()
	files := described(t)
	for _, one := range files["messages.proto"].GetMessageType() {
		for i, name := range fields {
			if one.GetName() == "Status" {
				number, kind := int32(2000+i), descriptorpb.FieldDescriptorProto_TYPE_FLOAT
				one.Field = append(one.Field, &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &kind})
			}
		}
	}
	handle, err := handleIn(files)
	require.NoError(t, err)
	response := dynamicpb.NewMessage(handle.Output())
	require.NoError(t, protojson.Unmarshal([]byte(`{"dish_get_status": `+text+`}`), response))
	status, err := partOf(response, "dish_get_status")
	require.NoError(t, err)
	values := map[string]float64{}
	for _, one := range readStatus(status, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) {
		values[one.Quantity] = one.Value
	}
	return values
}

func TestWhereEveryPingIsLostTheStatusHasAnOlderLatency(t *testing.T) {
	found := statusWith(t, `{"pop_ping_latency_ms": 3480, "pop_ping_drop_rate": 1}`, "pop_ping_drop_rate")
	require.Equal(t, map[string]float64{pingDrops: 1}, found)
	found = statusWith(t, `{"pop_ping_latency_ms": 40, "pop_ping_drop_rate": 0.5}`, "pop_ping_drop_rate")
	require.Equal(t, map[string]float64{pingLatency: 40, pingDrops: 0.5}, found)
}

func TestAnAzimuthOfZeroNeedsAnElevation(t *testing.T) {
	fields := []string{"boresight_azimuth_deg", "boresight_elevation_deg"}
	require.Empty(t, statusWith(t, `{}`, fields...))
	require.Equal(t, map[string]float64{azimuth: 0, elevation: 60}, statusWith(t, `{"boresight_elevation_deg": 60}`, fields...))
	require.Equal(t, map[string]float64{azimuth: 12}, statusWith(t, `{"boresight_azimuth_deg": 12}`, fields...))
}
