package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// customStep is a write to an object of a custom kind.
type customStep struct {
	Op          string          `json:"op"`
	Manager     string          `json:"manager"`
	Version     string          `json:"version"`
	Subresource string          `json:"subresource"`
	Force       bool            `json:"force"`
	Object      json.RawMessage `json:"object"`
}

// customAnswer is the object after a step, or the error. An error that is null stays so: its text depends on the order of Go's maps.
type customAnswer struct {
	Error  *json.RawMessage `json:"error,omitempty"`
	Object map[string]any   `json:"object,omitempty"`
	Owners []map[string]any `json:"owners,omitempty"`
}

// refreshCustomObject answers a line of custom-kind-histories.ndjson: schemas by version, and writes.
func refreshCustomObject(r *record) {
	var before []map[string]json.RawMessage
	r.into("expected", &before)
	r.keep("schemas", "steps")
	var schemas map[string]apiextensionsv1.JSONSchemaProps
	var steps []customStep
	r.into("schemas", &schemas)
	r.into("steps", &steps)
	object := customObject{kind: newCustomKind(schemas)}
	answers := []customAnswer{}
	for i, step := range steps {
		answer := object.write(step)
		if answer.Error != nil && string(before[i]["error"]) == "null" {
			unknown := json.RawMessage("null")
			answer.Error = &unknown
		}
		answers = append(answers, answer)
	}
	r.set("expected", answers)
}

type customObject struct {
	kind customKind
	live *unstructured.Unstructured
}

func (o *customObject) write(step customStep) customAnswer {
	gvk := schema.GroupVersionKind{Group: "x.io", Version: step.Version, Kind: "Thing"}
	live := &unstructured.Unstructured{}
	if o.live != nil {
		live = o.live.DeepCopy()
	}
	live.SetGroupVersionKind(gvk)
	next := &unstructured.Unstructured{}
	check(kjson.Unmarshal(step.Object, &next.Object))
	written, err := o.merged(step, live, next)
	if err != nil {
		text := json.RawMessage(encode(err.Error()))
		return customAnswer{Error: &text}
	}
	written.SetUID("u")
	written.SetManagedFields(atTime(written.GetManagedFields(), fixedTime))
	o.live = written
	return answerFrom(written.DeepCopy())
}

var fixedTime = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func (o *customObject) merged(step customStep, live, next *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	manager := o.kind.fieldManager(step.Version, step.Subresource)
	if step.Op == "apply" {
		object, err := manager.Apply(live, next, step.Manager, step.Force)
		if err != nil {
			return nil, err
		}
		return object.(*unstructured.Unstructured), nil
	}
	if o.live != nil {
		next.SetUID("u")
	}
	return manager.UpdateNoErrors(live, next, step.Manager).(*unstructured.Unstructured), nil
}

func answerFrom(written *unstructured.Unstructured) customAnswer {
	var owners []map[string]any
	for _, entry := range written.GetManagedFields() {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&entry)
		check(err)
		delete(fields, "time")
		owners = append(owners, fields)
	}
	written.SetManagedFields(nil)
	return customAnswer{Object: written.Object, Owners: owners}
}

// customKind is a custom kind with its versions, as the API server serves it.
type customKind struct {
	versions []string
	types    managedfields.TypeConverter
}

func newCustomKind(schemas map[string]apiextensionsv1.JSONSchemaProps) customKind {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	definition.Name = "things.x.io"
	definition.Spec.Group, definition.Spec.Scope = "x.io", apiextensionsv1.NamespaceScoped
	definition.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList",
	}
	var versions []string
	for version := range schemas {
		versions = append(versions, version)
	}
	sort.Strings(versions)
	for i, version := range versions {
		schema := schemas[version]
		definition.Spec.Versions = append(definition.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: true, Storage: i == 0,
			Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema},
			Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
		})
	}
	types, err := managedfields.NewTypeConverter(modelsOf(definition), false)
	check(err)
	return customKind{versions, types}
}

// modelsOf does what the API server does for applies to a custom kind.
func modelsOf(definition *apiextensionsv1.CustomResourceDefinition) map[string]*spec.Schema {
	specs := []*spec3.OpenAPI{{
		Version:    "3.0.0",
		Info:       &spec.Info{InfoProps: spec.InfoProps{Title: "static", Version: "v1"}},
		Components: &spec3.Components{Schemas: publishedSchemas()},
	}}
	for _, version := range definition.Spec.Versions {
		built, err := builder.BuildOpenAPIV3(definition, version.Name, builder.Options{})
		check(err)
		specs = append(specs, built)
	}
	merged, err := builder.MergeSpecsV3(specs...)
	check(err)
	return merged.Components.Schemas
}

// fieldManager: a write to the status leaves the rest of every version alone, another write the status of its own.
func (k customKind) fieldManager(version, subresource string) *managedfields.FieldManager {
	reset := map[fieldpath.APIVersion]*fieldpath.Set{}
	if subresource == "status" {
		for _, each := range k.versions {
			reset[fieldpath.APIVersion("x.io/"+each)] = fieldpath.NewSet(
				fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
		}
	} else {
		reset[fieldpath.APIVersion("x.io/"+version)] = fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	}
	gv := schema.GroupVersion{Group: "x.io", Version: version}
	manager, err := managedfields.NewDefaultCRDFieldManager(
		k.types, nopConverter{}, nopConverter{}, nopConverter{}, gv.WithKind("Thing"), gv, subresource,
		fieldpath.NewExcludeFilterSetMap(reset))
	check(err)
	return manager
}

// nopConverter converts between versions by their names alone, and defaults nothing.
type nopConverter struct{}

func (nopConverter) Convert(in, out, _ any) error {
	return fmt.Errorf("cannot convert %T to %T", in, out)
}

func (nopConverter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	object := in.(*unstructured.Unstructured).DeepCopy()
	kind, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{object.GroupVersionKind()})
	if !ok {
		return nil, fmt.Errorf("no kind for %v", object.GroupVersionKind())
	}
	object.SetGroupVersionKind(kind)
	return object, nil
}

func (nopConverter) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	return "", "", fmt.Errorf("no labels of fields")
}

func (nopConverter) Default(runtime.Object) {}

func (nopConverter) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}
