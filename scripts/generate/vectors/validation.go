package main

import (
	"errors"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var nameChecks = map[string]func(string) []string{
	"dnsSubdomain":       func(text string) []string { return apivalidation.NameIsDNSSubdomain(text, false) },
	"dnsSubdomainPrefix": func(text string) []string { return apivalidation.NameIsDNSSubdomain(text, true) },
	"dnsLabel":           func(text string) []string { return apivalidation.NameIsDNSLabel(text, false) },
	"dnsLabelPrefix":     func(text string) []string { return apivalidation.NameIsDNSLabel(text, true) },
	"dns1035Label":       func(text string) []string { return apivalidation.NameIsDNS1035Label(text, false) },
	"pathSegment":        func(text string) []string { return path.ValidatePathSegmentName(text, false) },
	"pathSegmentPrefix":  func(text string) []string { return path.ValidatePathSegmentName(text, true) },
	"qualifiedName":      validation.IsQualifiedName,
	"labelValue":         validation.IsValidLabelValue,
	"portName":           validation.IsValidPortName,
	"wildcardSubdomain":  validation.IsWildcardDNS1123Subdomain,
	"cIdentifier":        validation.IsCIdentifier,
	"configKey":          validation.IsConfigMapKey,
	"envVarName":         validation.IsRelaxedEnvVarName,
	"httpHeaderName":     validation.IsHTTPHeaderName,
	"percent":            validation.IsValidPercent,
}

var numberChecks = map[string]func(int) []string{
	"portNumber": validation.IsValidPortNum,
	"userId":     func(id int) []string { return validation.IsValidUserID(int64(id)) },
}

var at = field.NewPath("f")

// errorsAbout are the errors about a value, errorsOf those about a text and errorsFrom those about a number.
var errorsAbout = map[string]func(any) *field.Error{
	"invalid":           func(given any) *field.Error { return field.Invalid(at, given, "detail") },
	"typeInvalid":       func(given any) *field.Error { return field.TypeInvalid(at, given, "detail") },
	"duplicate":         func(given any) *field.Error { return field.Duplicate(at, given) },
	"notFound":          func(given any) *field.Error { return field.NotFound(at, given) },
	"notSupported":      func(given any) *field.Error { return field.NotSupported(at, given, []string{"x", `y"z`}) },
	"notSupportedEmpty": func(given any) *field.Error { return field.NotSupported(at, given, []string{}) },
	"requiredPlain":     func(any) *field.Error { return field.Required(at, "") },
}

var errorsOf = map[string]func(string) *field.Error{
	"required":  func(given string) *field.Error { return field.Required(at, given) },
	"forbidden": func(given string) *field.Error { return field.Forbidden(at, given) },
	"internal":  func(given string) *field.Error { return field.InternalError(at, errors.New(given)) },
}

var errorsFrom = map[string]func(int) *field.Error{
	"tooLong":             func(given int) *field.Error { return field.TooLong(at, "", given) },
	"tooLongCharacters":   func(given int) *field.Error { return field.TooLongCharacters(at, "", given) },
	"tooShort":            func(given int) *field.Error { return field.TooShort(at, "", given) },
	"tooMany":             func(given int) *field.Error { return field.TooMany(at, 7, given) },
	"tooManyWithoutCount": func(given int) *field.Error { return field.TooMany(at, -1, given) },
	"tooFew":              func(given int) *field.Error { return field.TooFew(at, 3, given) },
}

// refreshValidation answers a line of src/apiserver/validation/testing.
func refreshValidation(r *record) {
	r.keep("check", "given")
	rule := r.text("check")
	r.set("answer", validationAnswer(rule, r))
}

func validationAnswer(rule string, r *record) any {
	if ask := nameChecks[rule]; ask != nil {
		return listed(ask(r.text("given")))
	}
	if ask := errorsOf[rule]; ask != nil {
		return ask(r.text("given")).ErrorBody()
	}
	if ask := errorsAbout[rule]; ask != nil {
		var given any
		r.into("given", &given)
		return ask(given).ErrorBody()
	}
	if rule == "fieldManager" {
		return bodies(metavalidation.ValidateFieldManager(r.text("given"), at))
	}
	var number int
	r.into("given", &number)
	if ask := numberChecks[rule]; ask != nil {
		return listed(ask(number))
	}
	if ask := errorsFrom[rule]; ask != nil {
		return ask(number).ErrorBody()
	}
	panic("no rule " + rule)
}

func bodies(found field.ErrorList) []string {
	texts := []string{}
	for _, each := range found {
		texts = append(texts, each.ErrorBody())
	}
	return texts
}

func listed(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}
