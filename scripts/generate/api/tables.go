package main

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
)

const extensions = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

// leafTypes have a form of their own in JSON and protobuf.
var leafTypes = map[string]string{
	"k8s.io/apimachinery/pkg/api/resource.Quantity":   "quantity",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":       "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":  "microTime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":   "fieldsV1",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString": "intOrString",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":    "rawExtension",

	extensions + ".JSON":                         "json",
	extensions + ".JSONSchemaPropsOrArray":       "schemaOrList",
	extensions + ".JSONSchemaPropsOrBool":        "schemaOrBool",
	extensions + ".JSONSchemaPropsOrStringArray": "schemaOrNames",
}

var scalarKinds = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "bool", reflect.Int32: "int32", reflect.Int64: "int64",
	reflect.Float64: "float64",
}

// apiType is a Go struct, described for the generated files.
type apiType struct {
	id     string
	goType reflect.Type
	kind   bool
	atomic bool
	fields []apiField
}

type apiField struct {
	name, number        string
	goType              reflect.Type
	inline              bool
	omitEmpty, omitZero bool
	required            bool
	patch, mergeKey     string
	listType, mapType   string
	listKeys            []string
	defaultJSON         string
}

type collector struct {
	openAPI map[string]schema
	types   map[reflect.Type]*apiType
}

func (c *collector) add(goType reflect.Type, kind bool) {
	if goType.Kind() != reflect.Struct || leafTypes[fullName(goType)] != "" {
		return
	}
	if known, ok := c.types[goType]; ok {
		known.kind = known.kind || kind
		return
	}
	described := &apiType{id: typeID(goType), goType: goType, kind: kind}
	c.types[goType] = described
	published := c.openAPI[publishedName(goType)]
	described.atomic = published.MapType == "atomic"
	for i := range goType.NumField() {
		if field, ok := describeField(goType.Field(i)); ok {
			if !field.inline {
				published.describe(&field, goType)
			}
			described.fields = append(described.fields, field)
			c.addParts(field.goType)
		}
	}
}

// addParts adds the structs that a field's type consists of.
func (c *collector) addParts(goType reflect.Type) {
	if leafTypes[fullName(goType)] != "" {
		return
	}
	switch goType.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		c.addParts(goType.Elem())
	case reflect.Struct:
		c.add(goType, false)
	}
}

// namedStrings are the named string types of all fields.
func (c *collector) namedStrings() map[string]bool {
	used := map[string]bool{}
	for _, each := range c.types {
		for _, field := range each.fields {
			goType := field.goType
			for goType.Kind() == reflect.Pointer || goType.Kind() == reflect.Slice || goType.Kind() == reflect.Map {
				goType = goType.Elem()
			}
			used[fullName(goType)] = goType.Kind() == reflect.String
		}
	}
	return used
}

func describeField(field reflect.StructField) (apiField, bool) {
	tag, tagged := field.Tag.Lookup("json")
	parts := strings.Split(tag, ",")
	if !field.IsExported() || parts[0] == "-" {
		return apiField{}, false
	}
	if !tagged || (parts[0] == "" && !field.Anonymous) {
		panic(fmt.Sprintf("field %s has no JSON name", field.Name))
	}
	described := apiField{name: parts[0], number: "0", goType: field.Type, inline: parts[0] == ""}
	for _, option := range parts[1:] {
		described.omitEmpty = described.omitEmpty || option == "omitempty"
		described.omitZero = described.omitZero || option == "omitzero"
	}
	if wire := strings.Split(field.Tag.Get("protobuf"), ","); len(wire) > 1 {
		described.number = wire[1]
	}
	described.patch = field.Tag.Get("patchStrategy")
	described.mergeKey = field.Tag.Get("patchMergeKey")
	return described, true
}

// lines writes a type as type-table.ts expects it.
func (t *apiType) lines() string {
	header := []string{t.id}
	if t.kind {
		header = append(header, "kind")
	}
	if t.atomic {
		header = append(header, "atomic")
	}
	out := []string{strings.Join(header, " ")}
	for _, field := range t.fields {
		out = append(out, field.line())
	}
	return strings.Join(out, "\n")
}

func (f apiField) line() string {
	name := f.name
	if f.inline {
		name = "~"
	}
	goType, pointer := f.goType, false
	if goType.Kind() == reflect.Pointer {
		goType, pointer = goType.Elem(), true
	}
	parts := []string{name, f.number, typeExpression(goType)}
	flag := func(on bool, text string) {
		if on {
			parts = append(parts, text)
		}
	}
	flags := ""
	for _, each := range []struct {
		on   bool
		text string
	}{{pointer, "*"}, {f.omitEmpty, "?"}, {f.omitZero, "0"}, {f.required, "!"}} {
		if each.on {
			flags += each.text
		}
	}
	flag(flags != "", flags)
	flag(f.patch != "", "patch="+f.patch)
	flag(f.mergeKey != "", "key="+f.mergeKey)
	flag(f.listType != "", strings.TrimSuffix("list="+f.listType+":"+strings.Join(f.listKeys, ","), ":"))
	flag(f.mapType != "", "map="+f.mapType)
	// Last, because it may contain blanks.
	flag(f.defaultJSON != "", "default="+f.defaultJSON)
	return strings.Join(parts, " ")
}

// typeExpression writes a type: string, @core/v1.Pod, []string, {}quantity. Named types keep their Go name, for messages.
func typeExpression(goType reflect.Type) string {
	if leaf := leafTypes[fullName(goType)]; leaf != "" {
		return leaf
	}
	if goType.Kind() == reflect.Struct {
		return "@" + typeID(goType)
	}
	named := ""
	if goType.PkgPath() != "" {
		named = goType.String()
	}
	switch goType.Kind() {
	case reflect.Slice:
		if goType.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[" + named + "]" + typeExpression(goType.Elem())
	case reflect.Map:
		if goType.Key().Kind() != reflect.String {
			panic("the keys of " + goType.String() + " are not strings")
		}
		if key := goType.Key().String(); named == "" && key != "string" {
			named = "," + key
		}
		return "{" + named + "}" + typeExpression(goType.Elem())
	}
	scalar, ok := scalarKinds[goType.Kind()]
	if !ok {
		panic("no form for " + goType.String())
	}
	if named != "" {
		return scalar + "=" + named
	}
	return scalar
}

func (c *collector) sorted() []*apiType {
	var all []*apiType
	for _, each := range c.types {
		all = append(all, each)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].id < all[j].id })
	return all
}
