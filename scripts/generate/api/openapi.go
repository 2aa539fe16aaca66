package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
)

const kubernetesModule = "k8s.io/kubernetes"

// schema is the part of a published schema that we use: how lists and maps merge, required fields, defaults, descriptions.
type schema struct {
	Description string              `json:"description"`
	Properties  map[string]property `json:"properties"`
	Required    []string            `json:"required"`
	MapType     string              `json:"x-kubernetes-map-type"`
}

type property struct {
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	ListType    string          `json:"x-kubernetes-list-type"`
	ListKeys    []string        `json:"x-kubernetes-list-map-keys"`
	MapType     string          `json:"x-kubernetes-map-type"`
	Patch       string          `json:"x-kubernetes-patch-strategy"`
	MergeKey    string          `json:"x-kubernetes-patch-merge-key"`
}

func (s schema) describe(field *apiField, owner reflect.Type) {
	published, ok := s.Properties[field.name]
	if !ok {
		return
	}
	if published.Patch != field.patch || published.MergeKey != field.mergeKey {
		panic("the tags and the schema of " + owner.String() + "." + field.name + " disagree on patches")
	}
	field.required = slices.Contains(s.Required, field.name)
	field.listType, field.listKeys, field.mapType = published.ListType, published.ListKeys, published.MapType
	field.defaultJSON = compact(published.Default)
}

func compact(text json.RawMessage) string {
	var out bytes.Buffer
	if len(text) > 0 {
		check(json.Compact(&out, text))
	}
	return out.String()
}

// readOpenAPI reads the schemas of all published v3 documents, by their names.
func readOpenAPI() map[string]schema {
	answer, err := exec.Command("go", "list", "-m", "-json", kubernetesModule).Output()
	check(err)
	var module struct{ Dir string }
	check(json.Unmarshal(answer, &module))
	paths, err := filepath.Glob(filepath.Join(module.Dir, "api/openapi-spec/v3/*v1_openapi.json"))
	check(err)
	if len(paths) == 0 {
		panic("the published OpenAPI documents are missing; run: go mod download " + kubernetesModule)
	}
	all := map[string]schema{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		check(err)
		var document struct {
			Components struct{ Schemas map[string]schema }
		}
		check(json.Unmarshal(text, &document))
		for name, each := range document.Components.Schemas {
			all[name] = each
		}
	}
	return all
}
