package main

import (
	"context"
	"encoding/json"
	"sort"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
)

// refreshResources answers a line of resource-vectors.ndjson: a pod, and what three plugins of kube-scheduler say about it and each
// node.
func refreshResources(r *record) {
	r.keep("pod", "nodes")
	var pod corev1.Pod
	var nodes []*record
	r.into("pod", &pod)
	r.into("nodes", &nodes)
	for _, node := range nodes {
		refreshNode(node, &pod)
	}
	r.set("nodes", nodes)
}

type usedResources struct {
	CPU     int64            `json:"cpu"`
	Memory  int64            `json:"memory"`
	Storage int64            `json:"storage"`
	Others  map[string]int64 `json:"others"`
}

func refreshNode(r *record, pod *corev1.Pod) {
	r.keep("allocatable", "pods")
	node := nodeInfo(r)
	requested, scored := node.GetRequested(), node.GetNonZeroRequested()
	others := map[string]int64{}
	for name, amount := range requested.GetScalarResources() {
		others[string(name)] = amount
	}
	fit := plugins.fit(pod, node)
	var reasons []string
	if fit != nil {
		reasons = fit.Reasons()
		sortInsufficient(reasons)
	}
	r.set("used", usedResources{requested.GetMilliCPU(), requested.GetMemory(), requested.GetEphemeralStorage(), others})
	r.set("scoredCpu", scored.GetMilliCPU())
	r.set("scoredMemory", scored.GetMemory())
	r.set("reasons", listed(reasons))
	r.set("forGood", fit.Code() == fwk.UnschedulableAndUnresolvable)
	r.set("least", plugins.score(pod, node, plugins.resources))
	r.set("balanced", plugins.score(pod, node, plugins.balanced))
	r.set("portsFree", plugins.portsFree(pod, node))
}

func nodeInfo(r *record) *framework.NodeInfo {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	r.into("allocatable", &node.Status.Allocatable)
	var pods []json.RawMessage
	r.into("pods", &pods)
	info := framework.NewNodeInfo()
	info.SetNode(node)
	for _, text := range pods {
		var pod corev1.Pod
		check(json.Unmarshal(text, &pod))
		info.AddPod(&pod)
	}
	return info
}

// sortInsufficient sorts the reasons for extended resources, which come in the order of a Go map, after those with a fixed place.
func sortInsufficient(reasons []string) {
	fixed := map[string]int{
		"Too many pods": -4, "Insufficient cpu": -3, "Insufficient memory": -2, "Insufficient ephemeral-storage": -1,
	}
	sort.SliceStable(reasons, func(i, j int) bool {
		if fixed[reasons[i]] != fixed[reasons[j]] {
			return fixed[reasons[i]] < fixed[reasons[j]]
		}
		return reasons[i] < reasons[j]
	})
}

// handle is what the plugins ask of the scheduler. There are no devices.
type handle struct{ fwk.Handle }

func (handle) SharedDRAManager() fwk.SharedDRAManager { return nil }

type scorer interface {
	fwk.PreScorePlugin
	fwk.ScorePlugin
}

type schedulerPlugins struct {
	resources, balanced scorer
	filter              interface {
		fwk.PreFilterPlugin
		fwk.FilterPlugin
	}
	ports interface {
		fwk.PreFilterPlugin
		fwk.FilterPlugin
	}
}

var plugins = newSchedulerPlugins()

// newSchedulerPlugins makes the plugins with their defaults: least allocated, by CPU and memory of weight 1.
func newSchedulerPlugins() schedulerPlugins {
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	gates.EnableDRAExtendedResource = false
	weights := []config.ResourceSpec{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}
	create := func(factory func(context.Context, runtime.Object, fwk.Handle, feature.Features) (fwk.Plugin, error), args runtime.Object) fwk.Plugin {
		plugin, err := factory(context.Background(), args, handle{}, gates)
		check(err)
		return plugin
	}
	fit := create(noderesources.NewFit, &config.NodeResourcesFitArgs{
		ScoringStrategy: &config.ScoringStrategy{Type: config.LeastAllocated, Resources: weights},
	}).(*noderesources.Fit)
	balanced := create(noderesources.NewBalancedAllocation, &config.NodeResourcesBalancedAllocationArgs{Resources: weights})
	ports := create(nodeports.New, nil).(*nodeports.NodePorts)
	return schedulerPlugins{fit, balanced.(*noderesources.BalancedAllocation), fit, ports}
}

func (p schedulerPlugins) fit(pod *corev1.Pod, node fwk.NodeInfo) *fwk.Status {
	state := framework.NewCycleState()
	if _, status := p.filter.PreFilter(context.Background(), state, pod, nil); !status.IsSuccess() {
		panic(status.Message())
	}
	return p.filter.Filter(context.Background(), state, pod, node)
}

func (p schedulerPlugins) portsFree(pod *corev1.Pod, node fwk.NodeInfo) bool {
	state := framework.NewCycleState()
	if _, status := p.ports.PreFilter(context.Background(), state, pod, nil); status.IsSkip() {
		return true
	}
	return p.ports.Filter(context.Background(), state, pod, node).IsSuccess()
}

// score is null where the plugin skips the pod.
func (p schedulerPlugins) score(pod *corev1.Pod, node fwk.NodeInfo, plugin scorer) *int64 {
	state := framework.NewCycleState()
	if status := plugin.PreScore(context.Background(), state, pod, []fwk.NodeInfo{node}); status.IsSkip() {
		return nil
	}
	score, status := plugin.Score(context.Background(), state, pod, node)
	check(status.AsError())
	return &score
}
