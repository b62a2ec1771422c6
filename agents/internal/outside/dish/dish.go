// Package dish reads a Starlink dish on the local network: what it says of itself, and nothing is ever set.
//
// The dish describes its messages itself (gRPC reflection), so that no copy of them is kept here. Fields that it does not
// have are left out: they differ from one firmware to the next.
package dish

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

const (
	// Service and method are where a dish answers every question.
	service = "SpaceX.API.Device.Device"
	method  = "Handle"
	// patience is for one question: the dish is on the local network.
	patience = 5 * time.Second
	// largest is more than a history of 15 minutes takes.
	largest = 1 << 20
	// mostFiles bounds what the dish may describe.
	mostFiles = 100
)

// Dish is a dish at an address.
type Dish struct {
	connection *grpc.ClientConn
	handle     protoreflect.MethodDescriptor
}

// Open makes no connection yet; the first question does.
func Open(address string) (*Dish, error) {
	connection, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largest)), grpc.WithNoProxy())
	if err != nil {
		return nil, fmt.Errorf("address of the dish %q: %w", address, err)
	}
	return &Dish{connection: connection}, nil
}

// Close ends the connection.
func (d *Dish) Close() error { return d.connection.Close() }

// ask returns one part of the answer to one question, such as dish_get_status to get_status.
func (d *Dish) ask(ctx context.Context, question, part string) (protoreflect.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if d.handle == nil {
		handle, err := d.describe(ctx)
		if err != nil {
			return nil, err
		}
		d.handle = handle
	}
	request, err := requestFor(d.handle, question)
	if err != nil {
		return nil, err
	}
	response := dynamicpb.NewMessage(d.handle.Output())
	if err := d.connection.Invoke(ctx, "/"+service+"/"+method, request, response); err != nil {
		d.handle = nil // another firmware may answer next time
		return nil, fmt.Errorf("ask the dish: %w", err)
	}
	return partOf(response, part)
}

func requestFor(handle protoreflect.MethodDescriptor, question string) (*dynamicpb.Message, error) {
	request := dynamicpb.NewMessage(handle.Input())
	field := handle.Input().Fields().ByName(protoreflect.Name(question))
	if !isMessage(field) {
		return nil, fmt.Errorf("the dish does not know the question %s", question)
	}
	request.Set(field, protoreflect.ValueOfMessage(dynamicpb.NewMessage(field.Message())))
	return request, nil
}

func partOf(response protoreflect.Message, part string) (protoreflect.Message, error) {
	field := response.Descriptor().Fields().ByName(protoreflect.Name(part))
	if !isMessage(field) || !response.Has(field) {
		return nil, fmt.Errorf("the dish gave no %s", part)
	}
	return response.Get(field).Message(), nil
}

// isMessage: one, and no list of them.
func isMessage(field protoreflect.FieldDescriptor) bool {
	return field != nil && field.Message() != nil && !field.IsList() && !field.IsMap()
}

// describe asks the dish for the form of its messages.
func (d *Dish) describe(ctx context.Context) (protoreflect.MethodDescriptor, error) {
	stream, err := reflection.NewServerReflectionClient(d.connection).ServerReflectionInfo(ctx)
	if err != nil {
		return nil, fmt.Errorf("reach the dish: %w", err)
	}
	files := map[string]*descriptorpb.FileDescriptorProto{}
	asked := &reflection.ServerReflectionRequest{
		MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service},
	}
	for asked != nil {
		if err := fetch(stream, asked, files); err != nil {
			return nil, err
		}
		asked = nil
		if name := missing(files); name != "" {
			asked = &reflection.ServerReflectionRequest{MessageRequest: &reflection.ServerReflectionRequest_FileByFilename{FileByFilename: name}}
		}
	}
	return handleIn(files)
}

// handleIn finds the call in what a dish says of itself.
func handleIn(files map[string]*descriptorpb.FileDescriptorProto) (protoreflect.MethodDescriptor, error) {
	set := &descriptorpb.FileDescriptorSet{}
	for _, file := range files {
		set.File = append(set.File, file)
	}
	known, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, fmt.Errorf("the dish describes itself in a form that is not understood: %w", err)
	}
	found, err := known.FindDescriptorByName(protoreflect.FullName(service + "." + method))
	if err != nil {
		return nil, fmt.Errorf("the dish has no %s of %s: is this the address of a dish?", method, service)
	}
	handle, isMethod := found.(protoreflect.MethodDescriptor)
	if !isMethod || handle.IsStreamingClient() || handle.IsStreamingServer() {
		return nil, fmt.Errorf("%s is no plain call", service)
	}
	return handle, nil
}

func fetch(
	stream reflection.ServerReflection_ServerReflectionInfoClient, asked *reflection.ServerReflectionRequest,
	files map[string]*descriptorpb.FileDescriptorProto,
) error {
	if err := stream.Send(asked); err != nil {
		return fmt.Errorf("ask the dish for its description: %w", err)
	}
	answer, err := stream.Recv()
	if err != nil {
		return fmt.Errorf("the dish does not describe itself: %w", err)
	}
	if refused := answer.GetErrorResponse(); refused != nil {
		return fmt.Errorf("the dish does not describe itself: %s", refused.GetErrorMessage())
	}
	before := len(files)
	for _, encoded := range answer.GetFileDescriptorResponse().GetFileDescriptorProto() {
		file := &descriptorpb.FileDescriptorProto{}
		if err := proto.Unmarshal(encoded, file); err != nil {
			return fmt.Errorf("read the dish's description: %w", err)
		}
		files[file.GetName()] = file
	}
	if len(files) == before || len(files) > mostFiles {
		return errors.New("the dish describes itself with too many files, or with one that it does not have")
	}
	return nil
}

// missing names a file that another one needs.
func missing(files map[string]*descriptorpb.FileDescriptorProto) string {
	for _, file := range files {
		for _, name := range file.GetDependency() {
			if files[name] == nil {
				return name
			}
		}
	}
	return ""
}
