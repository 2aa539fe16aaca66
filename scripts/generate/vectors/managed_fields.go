package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// started tells times of this run from those in the vectors.
var started = time.Now().Add(-time.Second)

type resettingStrategy interface {
	GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set
}

// strategies say which fields a write does not change: by type, to the resource and to its status.
var strategies = map[string][2]resettingStrategy{
	"core/v1.Node":                       {node.Strategy, node.StatusStrategy},
	"core/v1.PersistentVolume":           {persistentvolume.Strategy, persistentvolume.StatusStrategy},
	"core/v1.PersistentVolumeClaim":      {persistentvolumeclaim.Strategy, persistentvolumeclaim.StatusStrategy},
	"core/v1.Pod":                        {pod.Strategy, pod.StatusStrategy},
	"core/v1.Service":                    {service.Strategy, service.StatusStrategy},
	"storage.k8s.io/v1.VolumeAttachment": {volumeattachment.Strategy, volumeattachment.StatusStrategy},
}

// refreshWriteSequence answers a line of library.ndjson: writes to an object, each with the managedFields after it.
func refreshWriteSequence(r *record) {
	r.keep("type", "steps")
	var steps []*record
	r.into("steps", &steps)
	var live runtime.Object
	for _, step := range steps {
		live = refreshWrite(step, r.text("type"), live)
	}
	r.set("steps", steps)
}

func refreshWrite(step *record, id string, live runtime.Object) runtime.Object {
	step.keep("manager", "subresource", "time", "next", "given")
	next, err := scheme.Scheme.New(kindOf(id))
	check(err)
	step.into("next", next)
	if live == nil {
		live, err = scheme.Scheme.New(kindOf(id))
		check(err)
	}
	next = fieldManagerOf(id, step.text("subresource")).UpdateNoErrors(live, next, step.text("manager"))
	accessor, err := meta.Accessor(next)
	check(err)
	at, err := time.Parse(time.RFC3339, step.text("time"))
	check(err)
	accessor.SetUID("u-1")
	accessor.SetManagedFields(atTime(accessor.GetManagedFields(), at))
	if len(accessor.GetManagedFields()) > 0 {
		step.set("expected", accessor.GetManagedFields())
	}
	return next
}

func fieldManagerOf(id, subresource string) *managedfields.FieldManager {
	kind := kindOf(id)
	reset := map[fieldpath.APIVersion]fieldpath.Filter{}
	if known, ok := strategies[id]; ok {
		strategy := known[0]
		if subresource == "status" {
			strategy = known[1]
		}
		reset = fieldpath.NewExcludeFilterSetMap(strategy.GetResetFields())
	}
	manager, err := managedfields.NewDefaultFieldManager(
		builtinTypes(), scheme.Scheme, scheme.Scheme, scheme.Scheme, kind, kind.GroupVersion(), subresource, reset)
	check(err)
	return manager
}

// atTime gives the entries of this run the time of the vectors. Kubernetes sorts by time, so they are sorted again.
func atTime(entries []metav1.ManagedFieldsEntry, at time.Time) []metav1.ManagedFieldsEntry {
	for i := range entries {
		if entries[i].Time != nil && entries[i].Time.After(started) {
			entries[i].Time = &metav1.Time{Time: at}
		}
	}
	sort.SliceStable(entries, func(i, j int) bool {
		p, q := entries[i], entries[j]
		if p.Operation != q.Operation {
			return p.Operation < q.Operation
		}
		if !p.Time.Equal(q.Time) {
			return p.Time.Before(q.Time)
		}
		if p.Manager != q.Manager {
			return p.Manager < q.Manager
		}
		if p.APIVersion != q.APIVersion {
			return p.APIVersion < q.APIVersion
		}
		return p.Subresource < q.Subresource
	})
	return entries
}

var knownTypes managedfields.TypeConverter

func builtinTypes() managedfields.TypeConverter {
	if knownTypes == nil {
		converter, err := managedfields.NewTypeConverter(publishedSchemas(), false)
		check(err)
		knownTypes = converter
	}
	return knownTypes
}

// publishedSchemas reads the schemas that Kubernetes publishes for the groups of the vectors.
func publishedSchemas() map[string]*spec.Schema {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	check(err)
	all := map[string]*spec.Schema{}
	for _, name := range []string{"api__v1", "apis__storage.k8s.io__v1"} {
		path := filepath.Join(strings.TrimSpace(string(folder)), "api/openapi-spec/v3", name+"_openapi.json")
		text, err := os.ReadFile(path)
		check(err)
		var document spec3.OpenAPI
		check(json.Unmarshal(text, &document))
		for name, schema := range document.Components.Schemas {
			all[name] = schema
		}
	}
	return all
}
