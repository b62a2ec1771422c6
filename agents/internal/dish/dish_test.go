package dish_test

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/reflection"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"downlink/agents/internal/dish"
	"downlink/agents/internal/observe"
)

// testDish answers over real gRPC with what a test gives it, and notes what it was asked.
type testDish struct {
	address string
	answers map[string]string
	asked   []string
}

func startDish(t *testing.T, answers map[string]string) *testDish {
	t.Helper()
	return startChangedDish(t, "", answers)
}

// startChangedDish has a list of messages at this field.
func startChangedDish(t *testing.T, listed string, answers map[string]string) *testDish {
	t.Helper()
	var set descriptorpb.FileDescriptorSet
	for _, text := range dish.Description {
		file := &descriptorpb.FileDescriptorProto{}
		require.NoError(t, prototext.Unmarshal([]byte(text), file))
		for _, message := range file.GetMessageType() {
			for _, field := range message.GetField() {
				if field.GetName() == listed {
					field.Label, field.OneofIndex = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum(), nil
				}
			}
		}
		set.File = append(set.File, file)
	}
	files, err := protodesc.NewFiles(&set)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	d := &testDish{address: listener.Addr().String(), answers: answers}
	server := grpc.NewServer()
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "SpaceX.API.Device.Device", HandlerType: (*any)(nil), Metadata: "device.proto",
		Methods: []grpc.MethodDesc{{MethodName: "Handle", Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			return d.handle(files, decode)
		}}},
	}, d)
	reflectionv1.RegisterServerReflectionServer(server, reflection.NewServerV1(reflection.ServerOptions{Services: server, DescriptorResolver: files}))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return d
}

func (d *testDish) handle(files *protoregistry.Files, decode func(any) error) (any, error) {
	request, response := message(files, "Request"), message(files, "Response")
	if err := decode(request); err != nil {
		return nil, err
	}
	request.Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		d.asked = append(d.asked, string(field.Name()))
		return true
	})
	answer, known := d.answers[d.asked[len(d.asked)-1]]
	if !known {
		return nil, status.Error(codes.Unimplemented, "not here")
	}
	return response, protojson.Unmarshal([]byte(answer), response)
}

func message(files *protoregistry.Files, name string) *dynamicpb.Message {
	found, err := files.FindDescriptorByName(protoreflect.FullName("SpaceX.API.Device." + name))
	if err != nil {
		panic(err)
	}
	return dynamicpb.NewMessage(found.(protoreflect.MessageDescriptor))
}

func itoa(number int64) string { return strconv.FormatInt(number, 10) }

func values(found []observe.Observation) map[string]float64 {
	named := map[string]float64{}
	for _, one := range found {
		named[one.Source+" "+one.Quantity] = one.Value
	}
	return named
}

func open(t *testing.T, address string) *dish.Reader {
	t.Helper()
	d, err := dish.Open(address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return dish.NewReader(d)
}

const statusNow = `{"dish_get_status": {"obstruction_stats": {"fraction_obstructed": 0.25}, "device_state": {"uptime_s": 3600},
	"pop_ping_latency_ms": 31.5, "downlink_throughput_bps": "a word where a number was", "of_tomorrow": 7}}`

func TestADishIsReadByItsOwnDescriptionAndNeverSet(t *testing.T) {
	d := startDish(t, map[string]string{"get_status": statusNow, "get_history": `{"dish_get_history": {}}`})
	found, err := open(t, d.address).Read(t.Context(), time.Now())
	require.NoError(t, err)
	require.Equal(t, map[string]float64{
		"dish dish.obstruction_ratio": 0.25, "dish dish.currently_obstructed": 0, "dish dish.ping_latency_ms": 31.5, "dish dish.uptime_s": 3600,
	}, values(found), "what it lacks, what is of another kind and what is new are left out")
	require.Equal(t, []string{"get_status", "get_history"}, d.asked)
}

func TestAHistoryGivesTheMeanSinceTheLastLookAndEachOutageOnce(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	gps := now.Add(-30*time.Second).Sub(time.Date(1980, 1, 6, 0, 0, 0, 0, time.UTC)) + 18*time.Second
	outages := `, "outages": [{"start_timestamp_ns": ` + itoa(gps.Nanoseconds()) + `, "duration_ns": 1500000000}]`
	d := startDish(t, map[string]string{
		"get_status":  `{"dish_get_status": {}}`,
		"get_history": `{"dish_get_history": {"current": 4, "pop_ping_drop_rate": [1, 1, 1, 1]` + outages + `}}`,
	})
	reader := open(t, d.address)
	first, err := reader.Read(t.Context(), now)
	require.NoError(t, err)
	require.Len(t, first, 2, "a first look has nothing before it: %v", first) // the outage, and a latency of 0
	outage := first[len(first)-1]
	require.Equal(t, observe.Observation{Quantity: "dish.outage_s", Unit: "s", Source: "dish", At: now.Add(-30 * time.Second), Value: 1.5}, outage)
	// Seconds 4 and 5 lie at places 0 and 1 of a ring of four.
	d.answers["get_history"] = `{"dish_get_history": {"current": 6, "pop_ping_drop_rate": [0.5, 0, 1, 1]` + outages + `}}`
	second, err := reader.Read(t.Context(), now.Add(2*time.Second))
	require.NoError(t, err)
	require.Equal(t, 0.25, values(second)["dish history dish.ping_drop_ratio"])
	require.NotContains(t, values(second), "dish dish.outage_s")
}

func TestADishThatLosesOneAnswerStillGivesTheOther(t *testing.T) {
	d := startDish(t, map[string]string{"get_status": statusNow})
	found, err := open(t, d.address).Read(t.Context(), time.Now())
	require.ErrorContains(t, err, "not here")
	require.Equal(t, 0.25, values(found)["dish dish.obstruction_ratio"])
}

func TestWhatIsNoDishSaysSo(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	reflection.Register(server)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	found, err := open(t, listener.Addr().String()).Read(t.Context(), time.Now())
	require.ErrorContains(t, err, "does not describe itself")
	require.Empty(t, found)
}

// TestADishWithListsInPlaceOfMessagesIsNotUnderstood: as a later firmware, or another program at this address, may describe it.
func TestADishWithListsInPlaceOfMessagesIsNotUnderstood(t *testing.T) {
	for _, field := range []string{"get_status", "dish_get_status"} {
		d := startChangedDish(t, field, map[string]string{"get_status": `{"dish_get_status": [{"pop_ping_latency_ms": 31.5}]}`, "get_history": `{"dish_get_history": {}}`})
		found, err := open(t, d.address).Read(t.Context(), time.Now())
		require.Error(t, err)
		require.Empty(t, found)
	}
}

// TestAnOutageOfNoMomentHidesNoneThatFollows: a start in the far future was taken for the last one.
func TestAnOutageOfNoMomentHidesNoneThatFollows(t *testing.T) {
	now := time.Now()
	outages := func(starts ...int64) string {
		text := ""
		for _, start := range starts {
			text += `{"start_timestamp_ns": "` + itoa(start) + `", "duration_ns": "2000000000"},`
		}
		return `{"dish_get_history": {"outages": [` + text[:len(text)-1] + `]}}`
	}
	answers := map[string]string{"get_status": `{"dish_get_status": {}}`, "get_history": outages(9e18)}
	reader := open(t, startDish(t, answers).address)
	found, _ := reader.Read(t.Context(), now)
	require.NotContains(t, values(found), "dish dish.outage_s")
	answers["get_history"] = outages(9e18, now.Add(-time.Minute).UnixNano())
	found, _ = reader.Read(t.Context(), now)
	require.InDelta(t, 2.0, values(found)["dish dish.outage_s"], 0)
}
