package main

import (
	"context"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// refreshRules answers a line of objects.jsonl: the rules of a schema, and an object. In no object may two entries of one map break a
// rule: Kubernetes reports them in the order of a Go map, which differs from run to run.
func refreshRules(r *record) {
	r.keep("name", "schema", "value", "old", "budget")
	schema := readSchema(r)
	budget := int64(celconfig.RuntimeCELCostBudget)
	r.into("budget", &budget)
	var found field.ErrorList
	if validator := structuralcel.NewValidator(schema.structural, true, celconfig.PerCallLimit); validator != nil {
		value, old := untyped(r, "value"), any(nil)
		var options []structuralcel.Option
		if r.has("old") {
			old = untyped(r, "old")
			correlation := common.NewCorrelatedObject(value, old, &model.Structural{Structural: schema.structural})
			options = append(options, structuralcel.WithRatcheting(correlation))
		}
		found, budget = validator.Validate(context.Background(), nil, schema.structural, value, old, budget, options...)
	}
	r.set("errors", errorTexts(found))
	r.set("remaining", budget)
}

// refreshDefinition answers a line of definitions.jsonl: the rules of a schema as part of a definition.
func refreshDefinition(r *record) {
	r.keep("name", "schema")
	var schema apiextensionsv1.JSONSchemaProps
	r.into("schema", &schema)
	var about field.ErrorList
	for _, each := range crdvalidation.ValidateCustomResourceDefinition(context.Background(), definitionWith(schema)) {
		if strings.HasPrefix(each.Field, "spec.validation.openAPIV3Schema") {
			about = append(about, each)
		}
	}
	r.set("errors", errorTexts(about))
}

func errorTexts(found field.ErrorList) []string {
	texts := []string{}
	for _, each := range found {
		texts = append(texts, withoutTypeNumber(each.Field+": "+each.ErrorBody()))
	}
	return texts
}

// definitionWith makes a definition that has nothing special but its schema.
func definitionWith(schema apiextensionsv1.JSONSchemaProps) *apiextensions.CustomResourceDefinition {
	names := apiextensionsv1.CustomResourceDefinitionNames{
		Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList",
	}
	external := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "things.x.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "x.io", Scope: apiextensionsv1.NamespaceScoped, Names: names,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema},
			}},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{StoredVersions: []string{"v1"}, AcceptedNames: names},
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	scheme.Default(external)
	internal := &apiextensions.CustomResourceDefinition{}
	check(scheme.Convert(external, internal, nil))
	return internal
}
