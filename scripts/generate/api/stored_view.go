package main

import (
	"fmt"
	"reflect"
)

// storedView is what Go's encoder leaves of an object that it decoded: a field is optional only if Go may leave it out, and null
// only if Go writes null.
type storedView struct{}

func (storedView) folder() string { return "src/kube/api/stored" }

func (storedView) describe() string {
	return "The stored form, exactly as Go's encoder writes it."
}

func (storedView) includes(*apiType) bool { return true }

func (storedView) prelude(f *typeFile) string {
	if f.groupVersion == "meta/v1" {
		return int64Type
	}
	return ""
}

func (storedView) openKind(f *typeFile, t *apiType) {
	fmt.Fprintf(&f.body, "export interface %s {\n", t.goType.Name())
	if isObject(t) {
		f.body.WriteString("  apiVersion: string;\n  kind: string;\n")
	}
}

func (storedView) skips(field apiField) bool { return isTypeMeta(field) }

func (storedView) property(f *typeFile, owner *apiType, field apiField) string {
	spelled, name := f.spell(field.goType), propertyName(field)
	switch {
	case isObject(owner) && field.name == "metadata":
		return fmt.Sprintf("  metadata: %s;\n", spelled)
	case isOptional(field) && spelled == "unknown":
		return fmt.Sprintf("  %s?: unknown;\n", name)
	case isOptional(field):
		return fmt.Sprintf("  %s?: %s | undefined;\n", name, spelled)
	case isNullable(field.goType) && spelled != "unknown":
		return fmt.Sprintf("  %s: %s | null;\n", name, spelled)
	}
	return fmt.Sprintf("  %s: %s;\n", name, spelled)
}

// isOptional: a struct that is no pointer is never empty to Go's omitempty.
func isOptional(field apiField) bool {
	return field.omitZero || (field.omitEmpty && field.goType.Kind() != reflect.Struct)
}

func isNullable(goType reflect.Type) bool {
	switch leafTypes[fullName(goType)] {
	case "time", "microTime", "fieldsV1", "rawExtension":
		return true
	}
	kind := goType.Kind()
	return kind == reflect.Pointer || kind == reflect.Slice || kind == reflect.Map
}

func (storedView) leaf(_ *typeFile, kind string) string {
	switch kind {
	case "quantity", "time", "microTime":
		return "string"
	case "intOrString":
		return "number | string"
	case "fieldsV1":
		return "Record<string, unknown>"
	case "rawExtension", "json":
		return "unknown"
	case "schemaOrList":
		return "JSONSchemaProps | JSONSchemaProps[]"
	case "schemaOrBool":
		return "JSONSchemaProps | boolean"
	case "schemaOrNames":
		return "JSONSchemaProps | string[]"
	}
	panic("no stored form for " + kind)
}

func (storedView) named(*typeFile, reflect.Type) string { return "" }

func (storedView) list(element string) string { return element + "[]" }

func (storedView) mapOf(_ *typeFile, element string) string {
	return fmt.Sprintf("Record<string, %s>", element)
}
