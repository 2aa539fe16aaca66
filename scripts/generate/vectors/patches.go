package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

// refreshStrategicPatch answers a line of strategic.ndjson: a patch of an object of a known type.
func refreshStrategicPatch(r *record) {
	r.keep("type", "original", "patch")
	var original, patch map[string]any
	r.into("original", &original)
	r.into("patch", &patch)
	result, err := strategicpatch.StrategicMergeMapPatch(original, patch, newObject(r.text("type")))
	setOutcome(r, map[string]any(result), err)
}

// refreshJSONPatch answers a line of json-and-merge.ndjson: a patch of a document of no type.
func refreshJSONPatch(r *record) {
	r.keep("type", "original", "patch")
	original, patch := []byte(r.values["original"]), []byte(r.values["patch"])
	var result []byte
	var err error
	if r.text("type") == "merge" {
		result, err = jsonpatch.MergePatch(original, patch)
	} else {
		var operations jsonpatch.Patch
		operations, err = jsonpatch.DecodePatch(patch)
		if err == nil {
			result, err = operations.Apply(original)
		}
	}
	setOutcome(r, json.RawMessage(result), err)
}

func setOutcome(r *record, result any, err error) {
	if err != nil {
		r.set("error", err.Error())
	} else {
		r.set("result", result)
	}
}

// kindOf reads core/v1.Pod and storage.k8s.io/v1.StorageClass.
func kindOf(id string) schema.GroupVersionKind {
	group, rest, _ := strings.Cut(id, "/")
	version, kind, ok := strings.Cut(rest, ".")
	if !ok {
		panic(fmt.Sprintf("%s is not a type", id))
	}
	if group == "core" {
		group = ""
	}
	return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
}

func newObject(id string) any {
	object, err := scheme.Scheme.New(kindOf(id))
	check(err)
	return reflect.ValueOf(object).Elem().Interface()
}
