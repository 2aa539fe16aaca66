package main

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
)

// interfaceFile writes the TypeScript interfaces of one group version.
type interfaceFile struct {
	groupVersion string
	imports      map[string]map[string]bool
	body         strings.Builder
}

func (f *interfaceFile) text() string {
	var out strings.Builder
	out.WriteString(generatedHeader)
	for _, other := range sortedKeys(f.imports) {
		names := sortedKeys(f.imports[other])
		fmt.Fprintf(&out, "import type { %s } from './%s.ts';\n", strings.Join(names, ", "), fileOf(other))
	}
	out.WriteString(f.body.String())
	return out.String()
}

func (f *interfaceFile) add(t *apiType, all map[reflect.Type]*apiType) {
	if len(t.fields) == 0 {
		fmt.Fprintf(&f.body, "\nexport type %s = Record<string, never>;\n", t.goType.Name())
		return
	}
	fmt.Fprintf(&f.body, "\nexport interface %s {\n", t.goType.Name())
	// Options come without their kind.
	f.addFields(t, all, t.kind && !strings.HasSuffix(t.goType.Name(), "Options"))
	f.body.WriteString("}\n")
}

func (f *interfaceFile) addFields(t *apiType, all map[reflect.Type]*apiType, isKind bool) {
	for _, field := range t.fields {
		switch {
		case field.inline && field.goType.Name() == "TypeMeta" && isKind:
			f.body.WriteString("  apiVersion: string;\n  kind: string;\n")
		case field.inline:
			f.addFields(all[field.goType], all, false)
		case isKind && field.name == "metadata":
			fmt.Fprintf(&f.body, "  metadata: %s;\n", f.spell(field.goType))
		default:
			f.body.WriteString("  " + f.property(field) + "\n")
		}
	}
}

// property spells a field as Go's encoder leaves it: left out where it may be, null where Go writes null.
func (f *interfaceFile) property(field apiField) string {
	spelled, name := f.spell(field.goType), field.name
	if strings.Contains(name, "-") {
		name = "'" + name + "'"
	}
	if optional(field) && spelled == "unknown" {
		return name + "?: unknown;"
	}
	if optional(field) {
		return fmt.Sprintf("%s?: %s | undefined;", name, spelled)
	}
	if nullable(field.goType) && spelled != "unknown" {
		spelled += " | null"
	}
	return fmt.Sprintf("%s: %s;", name, spelled)
}

// optional: a struct that is no pointer is never empty to Go's omitempty.
func optional(field apiField) bool {
	return field.omitZero || (field.omitEmpty && field.goType.Kind() != reflect.Struct)
}

func nullable(goType reflect.Type) bool {
	switch leafTypes[fullName(goType)] {
	case "time", "microTime", "fieldsV1", "rawExtension":
		return true
	}
	kind := goType.Kind()
	return kind == reflect.Pointer || kind == reflect.Slice || kind == reflect.Map
}

func (f *interfaceFile) spell(goType reflect.Type) string {
	switch leafTypes[fullName(goType)] {
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
	switch goType.Kind() {
	case reflect.Pointer:
		return f.spell(goType.Elem())
	case reflect.Slice:
		return f.spellSlice(goType)
	case reflect.Map:
		return fmt.Sprintf("Record<string, %s>", f.spell(goType.Elem()))
	case reflect.Struct:
		return f.reference(goType)
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	}
	return "number"
}

func (f *interfaceFile) spellSlice(goType reflect.Type) string {
	if goType.Elem().Kind() == reflect.Uint8 {
		return "string"
	}
	element := f.spell(goType.Elem())
	if strings.Contains(element, " | ") {
		element = "(" + element + ")"
	}
	return element + "[]"
}

func (f *interfaceFile) reference(goType reflect.Type) string {
	if owner := groupVersion(goType); owner != f.groupVersion {
		if f.imports[owner] == nil {
			f.imports[owner] = map[string]bool{}
		}
		f.imports[owner][goType.Name()] = true
	}
	return goType.Name()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
