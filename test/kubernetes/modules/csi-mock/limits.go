package main

import (
	"context"
	"strconv"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/test/e2e/storage/drivers/csi-test/mock/service"
)

const sizeKey = "csi.storage.k8s.io/size"

// driver is the mock with several nodes, and with pools that it enforces: one for each segment. Without pools, volumes are where the mock
// puts them. Calls run one at a time, so nothing here needs a lock.
type driver struct {
	mock        service.Service
	config      service.Config
	topologyKey string
	pools       map[string]int64
	// What each volume takes, by its id; inline volumes too.
	used map[string]usage
}

type usage struct {
	segment string
	// Bytes of the pool for each byte of the volume.
	copies   int64
	bytes    int64
	isInline bool
}

func newDriver(
	mock service.Service, config service.Config, topologyKey string, pools map[string]int64,
) *driver {
	d := &driver{mock: mock, config: config, topologyKey: topologyKey, pools: pools, used: map[string]usage{}}
	if d.hasPools() {
		// The volumes that the mock has from the start are in no pool.
		for _, id := range []string{"1", "2", "3"} {
			mock.DeleteVolume(context.Background(), &csi.DeleteVolumeRequest{VolumeId: id})
		}
	}
	return d
}

func (d *driver) hasPools() bool { return len(d.pools) > 0 }

// on returns the driver as it runs on a node.
func (d *driver) on(node string) service.Service {
	return &onNode{Service: d.mock, driver: d, node: node}
}

func (d *driver) free(segment string) int64 {
	free := d.pools[segment]
	for _, use := range d.used {
		if use.segment == segment {
			free -= use.bytes
		}
	}
	return free
}

func (d *driver) topology(segment string) *csi.Topology {
	return &csi.Topology{Segments: map[string]string{d.topologyKey: segment}}
}

// copies is how many bytes of a pool one byte of a volume takes; the class parameter "copies", as a driver with mirrors has it.
func copies(parameters map[string]string) int64 {
	if count, err := strconv.ParseInt(parameters["copies"], 10, 32); err == nil && count > 0 {
		return count
	}
	return 1
}

type onNode struct {
	service.Service
	driver *driver
	node   string
}

func (n *onNode) CreateVolume(
	ctx context.Context, request *csi.CreateVolumeRequest,
) (*csi.CreateVolumeResponse, error) {
	d := n.driver
	if !d.hasPools() {
		return d.mock.CreateVolume(ctx, request)
	}
	bytes := request.GetCapacityRange().GetRequiredBytes() * copies(request.GetParameters())
	segment, err := d.choose(ctx, request, bytes)
	if err != nil {
		return nil, err
	}
	reply, err := d.mock.CreateVolume(ctx, request)
	if err != nil {
		return nil, err
	}
	id := reply.GetVolume().GetVolumeId()
	if _, found := d.used[id]; !found {
		d.used[id] = usage{segment: segment, copies: copies(request.GetParameters()), bytes: bytes}
	}
	reply.Volume.AccessibleTopology = []*csi.Topology{d.topology(d.used[id].segment)}
	return reply, nil
}

// choose returns the first wanted segment with enough free bytes. A volume of that name needs none.
func (d *driver) choose(ctx context.Context, request *csi.CreateVolumeRequest, bytes int64) (string, error) {
	listed, err := d.mock.ListVolumes(ctx, &csi.ListVolumesRequest{})
	if err != nil {
		return "", err
	}
	for _, entry := range listed.GetEntries() {
		if entry.GetVolume().GetVolumeContext()["name"] == request.GetName() {
			return "", nil
		}
	}
	wanted := append([]*csi.Topology{}, request.GetAccessibilityRequirements().GetPreferred()...)
	wanted = append(wanted, request.GetAccessibilityRequirements().GetRequisite()...)
	if len(wanted) == 0 {
		for segment := range d.pools {
			wanted = append(wanted, d.topology(segment))
		}
	}
	for _, one := range wanted {
		segment := one.GetSegments()[d.topologyKey]
		if d.free(segment) >= bytes {
			return segment, nil
		}
	}
	return "", status.Errorf(codes.ResourceExhausted, "no pool has %d bytes free", bytes)
}

func (n *onNode) ListVolumes(
	ctx context.Context, request *csi.ListVolumesRequest,
) (*csi.ListVolumesResponse, error) {
	reply, err := n.driver.mock.ListVolumes(ctx, request)
	for _, entry := range reply.GetEntries() {
		if use, found := n.driver.used[entry.GetVolume().GetVolumeId()]; found {
			entry.Volume.AccessibleTopology = []*csi.Topology{n.driver.topology(use.segment)}
		}
	}
	return reply, err
}

func (n *onNode) DeleteVolume(
	ctx context.Context, request *csi.DeleteVolumeRequest,
) (*csi.DeleteVolumeResponse, error) {
	delete(n.driver.used, request.GetVolumeId())
	return n.driver.mock.DeleteVolume(ctx, request)
}

func (n *onNode) GetCapacity(
	ctx context.Context, request *csi.GetCapacityRequest,
) (*csi.GetCapacityResponse, error) {
	d := n.driver
	if !d.hasPools() {
		return d.mock.GetCapacity(ctx, request)
	}
	bytes := d.freeAt(n.node, request.GetAccessibleTopology())
	return &csi.GetCapacityResponse{AvailableCapacity: max(0, bytes/copies(request.GetParameters()))}, nil
}

// freeAt returns the free bytes of a topology; without one, those of the node; without a node, all free bytes.
func (d *driver) freeAt(node string, topology *csi.Topology) int64 {
	if topology != nil {
		return d.free(topology.GetSegments()[d.topologyKey])
	}
	if _, isSegment := d.pools[node]; isSegment {
		return d.free(node)
	}
	sum := int64(0)
	for segment := range d.pools {
		sum += d.free(segment)
	}
	return sum
}

func (n *onNode) ControllerExpandVolume(
	ctx context.Context, request *csi.ControllerExpandVolumeRequest,
) (*csi.ControllerExpandVolumeResponse, error) {
	d := n.driver
	use, found := d.used[request.GetVolumeId()]
	required := request.GetCapacityRange().GetRequiredBytes() * use.copies
	if found && required-use.bytes > d.free(use.segment) {
		return nil, status.Errorf(codes.OutOfRange, "the pool %s has %d bytes free", use.segment, d.free(use.segment))
	}
	reply, err := d.mock.ControllerExpandVolume(ctx, request)
	if err == nil && found {
		use.bytes = required
		d.used[request.GetVolumeId()] = use
	}
	return reply, err
}

// The mock knows one node, which has the name of the driver.
func (n *onNode) ControllerPublishVolume(
	ctx context.Context, request *csi.ControllerPublishVolumeRequest,
) (*csi.ControllerPublishVolumeResponse, error) {
	request.NodeId = n.driver.config.DriverName
	return n.driver.mock.ControllerPublishVolume(ctx, request)
}

func (n *onNode) ControllerUnpublishVolume(
	ctx context.Context, request *csi.ControllerUnpublishVolumeRequest,
) (*csi.ControllerUnpublishVolumeResponse, error) {
	request.NodeId = n.driver.config.DriverName
	return n.driver.mock.ControllerUnpublishVolume(ctx, request)
}

func (n *onNode) NodeGetInfo(
	ctx context.Context, request *csi.NodeGetInfoRequest,
) (*csi.NodeGetInfoResponse, error) {
	reply, err := n.driver.mock.NodeGetInfo(ctx, request)
	if err == nil && n.node != n.driver.config.DriverName {
		reply.NodeId = n.node
		reply.AccessibleTopology = n.driver.topology(n.node)
	}
	return reply, err
}

// The bytes of an inline volume come from the pool of the node.
func (n *onNode) NodePublishVolume(
	ctx context.Context, request *csi.NodePublishVolumeRequest,
) (*csi.NodePublishVolumeResponse, error) {
	d := n.driver
	isInline := request.GetVolumeContext()["csi.storage.k8s.io/ephemeral"] == "true"
	bytes, err := inlineSize(request)
	if err != nil {
		return nil, err
	}
	_, isKnown := d.used[request.GetVolumeId()]
	if isInline && d.hasPools() && !isKnown && d.free(n.node) < bytes {
		return nil, status.Errorf(codes.ResourceExhausted, "the pool %s has %d bytes free", n.node, d.free(n.node))
	}
	reply, err := d.mock.NodePublishVolume(ctx, request)
	if err == nil && isInline && d.hasPools() {
		d.used[request.GetVolumeId()] = usage{segment: n.node, copies: 1, bytes: bytes, isInline: true}
	}
	return reply, err
}

func inlineSize(request *csi.NodePublishVolumeRequest) (int64, error) {
	text := request.GetPublishContext()[sizeKey]
	if text == "" {
		text = request.GetVolumeContext()[sizeKey]
	}
	if text == "" {
		return 0, nil
	}
	size, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, status.Errorf(codes.InvalidArgument, "%s: %v", sizeKey, err)
	}
	return size.Value(), nil
}

func (n *onNode) NodeUnpublishVolume(
	ctx context.Context, request *csi.NodeUnpublishVolumeRequest,
) (*csi.NodeUnpublishVolumeResponse, error) {
	reply, err := n.driver.mock.NodeUnpublishVolume(ctx, request)
	if err == nil && n.driver.used[request.GetVolumeId()].isInline {
		delete(n.driver.used, request.GetVolumeId())
	}
	return reply, err
}
