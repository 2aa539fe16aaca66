package main

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
)

// callLog writes the calls of all sockets to a file. It also lets only one call run at a time, and copies replies before the next call:
// the mock changes maps that its replies share.
type callLog struct {
	mutex sync.Mutex
	file  *os.File
}

func openCalls(name string) (*callLog, error) {
	if name == "" {
		return &callLog{}, nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return &callLog{file: file}, err
}

func (c *callLog) intercept(
	ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (any, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	body, _ := protojson.Marshal(messageOf(request))
	reply, err := handler(ctx, request)
	c.write(path.Base(info.FullMethod), body, err)
	if err != nil {
		return nil, err
	}
	return proto.Clone(messageOf(reply)), nil
}

// messageOf supports the older form of messages, which this version of the specification is compiled to.
func messageOf(message any) proto.Message {
	return protoadapt.MessageV2Of(message.(protoadapt.MessageV1))
}

func (c *callLog) write(method string, request []byte, err error) {
	if c.file == nil {
		return
	}
	line, _ := json.Marshal(struct {
		Method  string          `json:"method"`
		Request json.RawMessage `json:"request"`
		Code    string          `json:"code"`
	}{method, request, status.Code(err).String()})
	c.file.Write(append(line, '\n'))
}
