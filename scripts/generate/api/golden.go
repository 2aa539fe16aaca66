package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	kjson "sigs.k8s.io/json"
)

// goldenObject is an object as JSON and as protobuf.
type goldenObject struct {
	Type     string          `json:"type"`
	Filled   string          `json:"filled"`
	Protobuf string          `json:"protobuf"`
	JSON     json.RawMessage `json:"json"`
}

// goldenInput is the result of decoding a text with Go: an object and strict errors about fields, or an error.
type goldenInput struct {
	Type   string          `json:"type"`
	Input  string          `json:"input"`
	Output json.RawMessage `json:"output,omitempty"`
	Strict []string        `json:"strict,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func writeGolden(root string) {
	var objects, inputs []any
	for _, each := range goldenObjects() {
		objects = append(objects, each)
	}
	for _, each := range goldenInputs() {
		inputs = append(inputs, each)
	}
	write(root, goldenFolder+"/golden-objects.jsonl", jsonLines(objects))
	write(root, goldenFolder+"/golden-inputs.jsonl", jsonLines(inputs))
}

func jsonLines(records []any) string {
	var lines strings.Builder
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	for _, each := range records {
		check(encoder.Encode(each))
	}
	return lines.String()
}

func goldenObjects() []goldenObject {
	var objects []goldenObject
	for _, filled := range []string{"nothing", "zeros", "values"} {
		fill := &filler{zeros: filled == "zeros", seen: map[reflect.Type]bool{}}
		for _, each := range groups {
			roots := each.roots()
			for _, kind := range sortedKeys(roots) {
				object := reflect.New(roots[kind])
				if filled != "nothing" {
					fill.fill(object.Elem())
				}
				known := object.Interface().(runtime.Object)
				known.GetObjectKind().SetGroupVersionKind(each.version.WithKind(kind))
				objects = append(objects, golden(typeID(roots[kind]), filled, known))
			}
		}
	}
	return objects
}

func golden(id, filled string, object runtime.Object) goldenObject {
	var wire bytes.Buffer
	check(protobuf.NewSerializer(nil, nil).Encode(object, &wire))
	text, err := json.Marshal(object)
	check(err)
	return goldenObject{id, filled, base64.StdEncoding.EncodeToString(wire.Bytes()), text}
}

func goldenInputs() []goldenInput {
	types := map[string]reflect.Type{}
	for goType, each := range collect().types {
		types[each.id] = goType
	}
	var inputs []goldenInput
	for _, each := range inputCases {
		found := goldenInput{Type: each.id, Input: each.text}
		object := reflect.New(types[each.id]).Interface()
		strict, err := kjson.UnmarshalStrict([]byte(each.text), object)
		if err != nil {
			found.Error = err.Error()
		} else {
			found.Output, err = json.Marshal(object)
			check(err)
		}
		for _, each := range strict {
			found.Strict = append(found.Strict, each.Error())
		}
		inputs = append(inputs, found)
	}
	return inputs
}
