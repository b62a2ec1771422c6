// Package dishtest is a dish for tests: it describes itself and answers over real gRPC.
package dishtest

import (
	"context"
	"net"
	"testing"

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
)

// Dish answers over real gRPC with what a test gives it, and notes what it was asked.
type Dish struct {
	Address string
	Answers map[string]string
	Asked   []string
}

// Start has a dish that gives these answers, by question, until the test ends.
func Start(t *testing.T, answers map[string]string) *Dish {
	t.Helper()
	return StartChanged(t, "", answers)
}

// StartChanged has a list of messages at this field.
func StartChanged(t *testing.T, listed string, answers map[string]string) *Dish {
	t.Helper()
	var set descriptorpb.FileDescriptorSet
	for _, text := range Description {
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
	d := &Dish{Address: listener.Addr().String(), Answers: answers}
	server := grpc.NewServer()
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "SpaceX.API.Device.Device", HandlerType: (*any)(nil), Metadata: "device.proto",
		Methods: []grpc.MethodDesc{{MethodName: "Handle", Handler: func(_ any, _ context.Context, decode func(any) error,
			_ grpc.UnaryServerInterceptor) (any, error) {
			return d.handle(files, decode)
		}}},
	}, d)
	reflectionv1.RegisterServerReflectionServer(server, reflection.NewServerV1(reflection.ServerOptions{Services: server,
		DescriptorResolver: files}))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return d
}

func (d *Dish) handle(files *protoregistry.Files, decode func(any) error) (any, error) {
	request, response := message(files, "Request"), message(files, "Response")
	if err := decode(request); err != nil {
		return nil, err
	}
	request.Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		d.Asked = append(d.Asked, string(field.Name()))
		return true
	})
	answer, known := d.Answers[d.Asked[len(d.Asked)-1]]
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
	described, isMessage := found.(protoreflect.MessageDescriptor)
	if !isMessage {
		panic(name + " is no message")
	}
	return dynamicpb.NewMessage(described)
}
