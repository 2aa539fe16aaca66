// Command csi-mock serves the mock CSI driver of Kubernetes' own tests on a unix socket, for tests of our client:
//
//	csi-mock SOCKET DRIVER-NAME
//
// Volumes are kept in memory. SIGTERM ends it.
package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"k8s.io/kubernetes/test/e2e/storage/drivers/csi-test/mock/service"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: csi-mock SOCKET DRIVER-NAME")
		os.Exit(2)
	}
	listener, err := net.Listen("unix", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	mock := service.New(service.Config{DriverName: os.Args[2], EnableTopology: true, IO: service.OSDirIO{}})
	server := grpc.NewServer()
	csi.RegisterIdentityServer(server, mock)
	csi.RegisterControllerServer(server, mock)
	csi.RegisterNodeServer(server, mock)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		server.Stop()
	}()
	if err := server.Serve(listener); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
