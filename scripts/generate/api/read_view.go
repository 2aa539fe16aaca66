package main

import (
	"fmt"
	"reflect"
	"strings"
)

// readView is an object as read from any cluster or file: any field may be missing, nothing may be changed. It has what Go's types
// say and JSON does not: closed sets of strings, quantities and times.
type readView struct {
	enums enumerations
}

const metaVersion = "meta/v1"

func (readView) folder() string { return "src/kube/api" }

func (readView) describe() string {
	return "As read from any cluster or file: any field may be missing, nothing may be changed."
}

// includes leaves out what src/kube has in another form: options of requests, and objects without more than metadata.
func (readView) includes(t *apiType) bool {
	name := t.goType.Name()
	return name == "DeleteOptions" || name != "PartialObjectMetadata" && !(t.kind && strings.HasSuffix(name, "Options"))
}

func (v readView) prelude(f *typeFile) string {
	var out strings.Builder
	out.WriteString(preludes[f.groupVersion])
	for owner, names := range preludeImports[f.groupVersion] {
		for _, name := range names {
			f.reference(owner, name)
		}
	}
	for _, each := range v.enums.of(f.groupVersion) {
		fmt.Fprintf(&out, "\n%sexport type %s = %s;\n", docComment("", comments[f.groupVersion+"."+each.name]), each.name, each.union())
	}
	return out.String()
}

func (readView) openKind(f *typeFile, t *apiType) {
	f.body.WriteString(docComment("", comments[t.id]))
	extends := ""
	if isObject(t) && hasObjectMeta(t) {
		extends = " extends " + f.reference(metaVersion, "KubeObject")
	} else if isObject(t) {
		extends = " extends " + f.reference(metaVersion, "TypeMeta")
	}
	fmt.Fprintf(&f.body, "export interface %s%s {\n", t.goType.Name(), extends)
	f.body.WriteString(extraFields[t.id])
}

func hasObjectMeta(t *apiType) bool {
	for _, field := range t.fields {
		if field.name == "metadata" && field.goType.Name() == "ObjectMeta" {
			return true
		}
	}
	return false
}

func (readView) skips(field apiField) bool {
	return isTypeMeta(field) || (field.name == "metadata" && field.goType.Name() == "ObjectMeta")
}

func (v readView) property(f *typeFile, owner *apiType, field apiField) string {
	id := owner.id + "." + field.name
	spelled := f.spell(field.goType)
	if known, ok := fieldTypes[id]; ok {
		spelled = f.reference("core/v1", known.coreType) + known.or
	}
	if v.writtenAsNull(field) {
		spelled += " | null"
	}
	return docComment("  ", comments[id]) + fmt.Sprintf("  readonly %s?: %s;\n", propertyName(field), spelled)
}

// writtenAsNull: Go writes null for a time that is zero, unless its tag says otherwise.
func (readView) writtenAsNull(field apiField) bool {
	switch leafTypes[fullName(field.goType)] {
	case "time", "microTime":
		return !isOptional(field)
	}
	return false
}

func (v readView) leaf(f *typeFile, kind string) string {
	switch kind {
	case "quantity":
		return f.reference(metaVersion, "QuantityText")
	case "time", "microTime":
		return f.reference(metaVersion, "Timestamp")
	case "intOrString":
		return f.reference(metaVersion, "IntOrString")
	case "fieldsV1", "rawExtension", "json":
		return "unknown"
	case "schemaOrList":
		return "JSONSchemaProps | readonly JSONSchemaProps[]"
	case "schemaOrBool":
		return "JSONSchemaProps | boolean"
	case "schemaOrNames":
		return "JSONSchemaProps | readonly string[]"
	}
	panic("no form to read for " + kind)
}

func (v readView) named(f *typeFile, goType reflect.Type) string {
	if fullName(goType) == "k8s.io/api/core/v1.ResourceList" {
		return f.reference("core/v1", "ResourceList")
	}
	if v.enums[fullName(goType)] != nil {
		return f.reference(groupVersion(goType), goType.Name())
	}
	return ""
}

func (readView) list(element string) string { return "readonly " + element + "[]" }

func (readView) mapOf(f *typeFile, element string) string {
	if element == "string" {
		return f.reference(metaVersion, "StringMap")
	}
	return fmt.Sprintf("Readonly<Record<string, %s>>", element)
}

// docComment writes a comment as TypeScript has it, in lines that fit.
func docComment(indent, text string) string {
	if text == "" {
		return ""
	}
	const width = 110
	if line := fmt.Sprintf("%s/** %s */\n", indent, text); len(line) <= width {
		return line
	}
	out, line := indent+"/**\n", indent+" *"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > width {
			out, line = out+line+"\n", indent+" *"
		}
		line += " " + word
	}
	return out + line + "\n" + indent + " */\n"
}
