// Command csi-mock serves the mock CSI driver of Kubernetes' own tests on unix sockets, for our tests:
//
//	csi-mock [FLAGS] SOCKET DRIVER-NAME
//
// SOCKET has all services. Volumes are kept in memory. SIGTERM ends it.
//
//	--node ID=SOCKET          one more socket, with the node service of the node ID (repeatable)
//	--pool SEGMENT=GIB        the driver has this much storage in a segment, and refuses what does not fit (repeatable)
//	--topology-key KEY        the label whose values are segments; a node is in the segment of its id
//	--no-attach               volumes need no ControllerPublishVolume
//	--attach-limit N          volumes per node
//	--no-expansion            no ControllerExpandVolume
//	--node-expansion          expansion ends with NodeExpandVolume
//	--calls FILE              appends a line of JSON for each call: method, request, code
//
// The mock itself knows one node, one segment and no limits; limits.go adds these.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"k8s.io/kubernetes/test/e2e/storage/drivers/csi-test/mock/service"
)

const gib = int64(1) << 30

// pairs is the value of a repeatable flag NAME=VALUE, in the order of the command line.
type pairs [][2]string

func (p *pairs) String() string { return "" }

func (p *pairs) Set(text string) error {
	name, value, found := strings.Cut(text, "=")
	if !found || name == "" || value == "" {
		return fmt.Errorf("must have the form NAME=VALUE")
	}
	*p = append(*p, [2]string{name, value})
	return nil
}

func main() {
	var nodes, pools pairs
	config := service.Config{EnableTopology: true, IO: service.OSDirIO{}}
	flag.Var(&nodes, "node", "ID=SOCKET")
	flag.Var(&pools, "pool", "SEGMENT=GIB")
	topologyKey := flag.String("topology-key", service.TopologyKey, "label of segments")
	callsFile := flag.String("calls", "", "file for the calls")
	flag.BoolVar(&config.DisableAttach, "no-attach", false, "no ControllerPublishVolume")
	flag.Int64Var(&config.AttachLimit, "attach-limit", 0, "volumes per node")
	flag.BoolVar(&config.DisableControllerExpansion, "no-expansion", false, "no ControllerExpandVolume")
	flag.BoolVar(&config.NodeExpansionRequired, "node-expansion", false, "NodeExpandVolume is required")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: csi-mock [FLAGS] SOCKET DRIVER-NAME")
		os.Exit(2)
	}
	config.DriverName = flag.Arg(1)
	limits, err := poolsOf(pools)
	exitOn(err)
	calls, err := openCalls(*callsFile)
	exitOn(err)
	driver := newDriver(service.New(config), config, *topologyKey, limits)
	servers := []*grpc.Server{serve(flag.Arg(0), driver.on(config.DriverName), calls)}
	for _, node := range nodes {
		servers = append(servers, serve(node[1], driver.on(node[0]), calls))
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	<-signals
	for _, server := range servers {
		server.Stop()
	}
}

func poolsOf(pools pairs) (map[string]int64, error) {
	limits := map[string]int64{}
	for _, pool := range pools {
		count, err := strconv.ParseInt(pool[1], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("--pool %s: %w", pool[0], err)
		}
		limits[pool[0]] = count * gib
	}
	return limits, nil
}

// serve listens at once; a socket that exists is an error.
func serve(path string, services service.Service, calls *callLog) *grpc.Server {
	listener, err := net.Listen("unix", path)
	exitOn(err)
	server := grpc.NewServer(grpc.UnaryInterceptor(calls.intercept))
	csi.RegisterIdentityServer(server, services)
	csi.RegisterControllerServer(server, services)
	csi.RegisterNodeServer(server, services)
	go func() { exitOn(server.Serve(listener)) }()
	return server
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
