package main

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
)

// view is a form in which TypeScript sees the types.
type view interface {
	// folder is where the view's files are, from the root of the project.
	folder() string
	// describe says what the view is, for the head of each file.
	describe() string
	includes(t *apiType) bool
	// prelude is TypeScript that a file begins with.
	prelude(f *typeFile) string
	openKind(f *typeFile, t *apiType)
	property(f *typeFile, owner *apiType, field apiField) string
	// leaf spells a type with a form of its own.
	leaf(f *typeFile, kind string) string
	// named spells a Go type that has a name but is no struct; empty means: by its kind.
	named(f *typeFile, goType reflect.Type) string
	list(element string) string
	mapOf(f *typeFile, element string) string
	// skips says whether a kind leaves a field to what openKind wrote.
	skips(field apiField) bool
}

// typeFile writes the TypeScript types of one group version.
type typeFile struct {
	view         view
	groupVersion string
	imports      map[string]map[string]bool
	body         strings.Builder
}

func typeFiles(as view, all *collector) map[string]*typeFile {
	files := map[string]*typeFile{}
	for _, each := range all.sorted() {
		name := groupVersion(each.goType)
		if files[name] == nil {
			files[name] = &typeFile{view: as, groupVersion: name, imports: map[string]map[string]bool{}}
			files[name].body.WriteString(as.prelude(files[name]))
		}
		if as.includes(each) {
			files[name].add(each, all.types)
		}
	}
	return files
}

func (f *typeFile) text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s// %s\n", generatedHeader, f.view.describe())
	for _, other := range sortedKeys(f.imports) {
		names := sortedKeys(f.imports[other])
		fmt.Fprintf(&out, "import type { %s } from './%s.ts';\n", strings.Join(names, ", "), fileOf(other))
	}
	out.WriteString(f.body.String())
	return out.String()
}

func (f *typeFile) add(t *apiType, all map[reflect.Type]*apiType) {
	if len(t.fields) == 0 {
		fmt.Fprintf(&f.body, "\nexport type %s = Record<string, never>;\n", t.goType.Name())
		return
	}
	f.body.WriteString("\n")
	f.view.openKind(f, t)
	f.addFields(t, t, all)
	f.body.WriteString("}\n")
}

// addFields writes the fields of `part`, which is `owner` or embedded in it.
func (f *typeFile) addFields(owner, part *apiType, all map[reflect.Type]*apiType) {
	for _, field := range part.fields {
		switch {
		case isObject(owner) && owner == part && f.view.skips(field):
		case field.inline:
			f.addFields(owner, all[field.goType], all)
		default:
			f.body.WriteString(f.view.property(f, part, field))
		}
	}
}

// isObject says whether a type comes with its kind: options do not.
func isObject(t *apiType) bool {
	return t.kind && !strings.HasSuffix(t.goType.Name(), "Options")
}

func isTypeMeta(field apiField) bool {
	return field.inline && field.goType.Name() == "TypeMeta"
}

func (f *typeFile) spell(goType reflect.Type) string {
	if leaf := leafTypes[fullName(goType)]; leaf != "" {
		return f.view.leaf(f, leaf)
	}
	if named := f.view.named(f, goType); named != "" {
		return named
	}
	switch goType.Kind() {
	case reflect.Pointer:
		return f.spell(goType.Elem())
	case reflect.Slice:
		return f.spellSlice(goType)
	case reflect.Map:
		return f.view.mapOf(f, f.spell(goType.Elem()))
	case reflect.Struct:
		return f.reference(groupVersion(goType), goType.Name())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int64:
		return f.reference("meta/v1", "Int64")
	}
	return "number"
}

func (f *typeFile) spellSlice(goType reflect.Type) string {
	if goType.Elem().Kind() == reflect.Uint8 {
		return "string"
	}
	element := f.spell(goType.Elem())
	if strings.Contains(element, " | ") {
		element = "(" + element + ")"
	}
	return f.view.list(element)
}

// reference names a type, and imports it where another file has it.
func (f *typeFile) reference(owner, name string) string {
	if owner != f.groupVersion {
		if f.imports[owner] == nil {
			f.imports[owner] = map[string]bool{}
		}
		f.imports[owner][name] = true
	}
	return name
}

func propertyName(field apiField) string {
	if strings.Contains(field.name, "-") {
		return "'" + field.name + "'"
	}
	return field.name
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
