package main

import (
	"reflect"
	"sort"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// refreshStructural answers a line of src/apiserver/structural/testing: a schema and a value, or a format and texts. Answers that are
// empty, or the value itself, are left out.
func refreshStructural(r *record) {
	if r.has("format") {
		refreshFormat(r)
		return
	}
	r.keep("schema", "value", "old")
	schema := readSchema(r)
	refreshPruning(r, schema)
	defaulted := untyped(r, "value")
	defaulting.PruneNonNullableNullsWithoutDefaults(defaulted, schema.structural)
	defaulting.Default(defaulted, schema.structural)
	setChanged(r, "defaulted", defaulted)
	refreshCoercion(r, schema)
	refreshValidity(r, schema)
	setCauses(r, "lists", listtype.ValidateListSetsAndMaps(nil, schema.structural, untyped(r, "value").(map[string]any)))
	setCauses(r, "meta", objectmeta.Validate(nil, untyped(r, "value"), schema.structural, false))
}

func refreshFormat(r *record) {
	r.keep("format", "texts")
	var texts []string
	r.into("texts", &texts)
	ok := []bool{}
	for _, text := range texts {
		ok = append(ok, strfmt.Default.Validates(r.text("format"), text))
	}
	r.set("ok", ok)
}

func refreshPruning(r *record, schema parsedSchema) {
	pruned := untyped(r, "value")
	options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	dropped := pruning.PruneWithOptions(pruned, schema.structural, true, options)
	if len(dropped) > 0 {
		r.set("dropped", dropped)
	}
	setChanged(r, "pruned", pruned)
}

func refreshCoercion(r *record, schema parsedSchema) {
	coerced, unknown, failure := coerce(r, schema)
	if failure != "" {
		r.set("coerceError", failure)
		return
	}
	setChanged(r, "coerced", coerced)
	if len(unknown) > 0 {
		r.set("coerceUnknown", unknown)
	}
}

// coerce gives the first error in the order of texts: Go stops at any of them.
func coerce(r *record, schema parsedSchema) (coerced any, unknown []string, failure string) {
	for range mapOrders {
		value := untyped(r, "value")
		options := objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true}
		err, paths := objectmeta.CoerceWithOptions(nil, value, schema.structural, false, options)
		if err == nil {
			return value, paths, ""
		}
		if text := err.Error(); failure == "" || text < failure {
			failure = text
		}
	}
	return nil, nil, failure
}

func refreshValidity(r *record, schema parsedSchema) {
	validator, _, err := validation.NewSchemaValidator(schema.internal)
	check(err)
	setCauses(r, "created", validation.ValidateCustomResource(nil, untyped(r, "value"), validator))
	if !r.has("old") {
		return
	}
	value, old := untyped(r, "value"), untyped(r, "old")
	correlation := common.NewCorrelatedObject(value, old, &model.Structural{Structural: schema.structural})
	setCauses(r, "updated", validation.ValidateCustomResourceUpdate(nil, value, old, validator, validation.WithRatcheting(correlation)))
}

type parsedSchema struct {
	internal   *apiextensions.JSONSchemaProps
	structural *structuralschema.Structural
}

func readSchema(r *record) parsedSchema {
	var external apiextensionsv1.JSONSchemaProps
	r.into("schema", &external)
	return parseSchema(external)
}

func parseSchema(external apiextensionsv1.JSONSchemaProps) parsedSchema {
	internal := &apiextensions.JSONSchemaProps{}
	check(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, internal, nil))
	structural, err := structuralschema.NewStructural(internal)
	check(err)
	return parsedSchema{internal, structural}
}

// untyped decodes a field as objects without a type are: whole numbers are int64. Every call gives a new value.
func untyped(r *record, name string) any {
	var value any
	check(kjson.Unmarshal(r.values[name], &value))
	return value
}

func setChanged(r *record, name string, value any) {
	if !reflect.DeepEqual(value, untyped(r, "value")) {
		r.set(name, value)
	}
}

// cause is one of the causes of a Status.
type cause struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// setCauses sorts: Go goes through fields in any order.
func setCauses(r *record, name string, found field.ErrorList) {
	causes := []cause{}
	for _, each := range found {
		causes = append(causes, cause{string(each.Type), each.Field, each.ErrorBody()})
	}
	text := func(c cause) string { return c.Field + "\x00" + c.Reason + "\x00" + c.Message }
	sort.Slice(causes, func(i, j int) bool { return text(causes[i]) < text(causes[j]) })
	if len(causes) > 0 {
		r.set(name, causes)
	}
}
