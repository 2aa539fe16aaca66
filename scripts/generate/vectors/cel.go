package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// subject is what an expression is about.
type subject struct {
	Schema         apiextensionsv1.JSONSchemaProps `json:"schema"`
	Value          json.RawMessage                 `json:"value"`
	Old            json.RawMessage                 `json:"old"`
	IsResourceRoot *bool                           `json:"isResourceRoot"`
}

var emptySubject = subject{
	Schema: apiextensionsv1.JSONSchemaProps{Type: "object"},
	Value:  json.RawMessage(`{}`),
}

// refreshExpressions answers expressions.jsonl: a subject, then expressions about it (`self`) or about an empty object.
func refreshExpressions(lines []json.RawMessage) []any {
	var about subject
	check(json.Unmarshal(lines[0], &about))
	full, empty := newExpressionEnv(about), newExpressionEnv(emptySubject)
	refreshed := each(func(r *record) {
		r.keep("expr", "self")
		if r.has("self") {
			full.answer(r)
		} else {
			empty.answer(r)
		}
	})(lines[1:])
	return append([]any{lines[0]}, refreshed...)
}

// refreshPart answers a line of parts.jsonl: an expression about a subject of its own.
func refreshPart(r *record) {
	r.keep("subject", "expr")
	var about subject
	r.into("subject", &about)
	newExpressionEnv(about).answer(r)
}

// expressionEnv is where single expressions run, as the rules of a schema do: see Compile of schema/cel.
type expressionEnv struct {
	env       *cel.Env
	estimator *library.CostEstimator
	variables map[string]any
}

func newExpressionEnv(about subject) expressionEnv {
	isRoot := about.IsResourceRoot == nil || *about.IsResourceRoot
	structural := parseSchema(about.Schema).structural
	self := model.SchemaDeclType(structural, isRoot).MaybeAssignTypeName("selfType")
	envSet, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			cel.Variable(structuralcel.ScopedVarName, self.CelType()),
			cel.Variable(structuralcel.OldScopedVarName, self.CelType()),
		},
		DeclTypes: []*apiservercel.DeclType{self},
	})
	check(err)
	if isRoot {
		structural = model.WithTypeAndObjectMeta(structural)
	}
	variables := map[string]any{"self": structuralcel.UnstructuredToVal(untypedJSON(about.Value), structural)}
	if about.Old != nil {
		variables["oldSelf"] = structuralcel.UnstructuredToVal(untypedJSON(about.Old), structural)
	}
	return expressionEnv{envSet.StoredExpressionsEnv(), &library.CostEstimator{SizeEstimator: &sizeEstimator{self}}, variables}
}

func (e expressionEnv) answer(r *record) {
	ast, issues := e.env.Compile(r.text("expr"))
	if issues != nil {
		r.set("compile", issues.String())
		return
	}
	resultType := cel.FormatCELType(ast.OutputType())
	program, err := e.env.Program(ast, cel.CostLimit(celconfig.PerCallLimit), cel.CostTracking(e.estimator))
	if err != nil {
		r.set("program", err.Error())
		r.set("type", resultType)
		return
	}
	estimate, err := e.env.EstimateCost(ast, e.estimator)
	check(err)
	value, cost, err := e.evaluate(program)
	r.set("cost", strconv.FormatUint(cost, 10))
	if err != nil {
		r.set("error", err.Error())
	}
	r.set("max", strconv.FormatUint(estimate.Max, 10))
	r.set("min", strconv.FormatUint(estimate.Min, 10))
	r.set("type", resultType)
	if err == nil {
		r.set("value", showValue(value))
	}
}

// evaluate gives the outcome of the highest cost: what an expression over a map costs may depend on where Go begins.
func (e expressionEnv) evaluate(program cel.Program) (value ref.Val, cost uint64, err error) {
	for range mapOrders {
		next, details, failure := program.ContextEval(context.Background(), e.variables)
		if spent := *details.ActualCost(); value == nil || spent > cost {
			value, cost, err = next, spent, failure
		}
	}
	return value, cost, err
}

// sizeEstimator is that of schema/cel, which does not export it.
type sizeEstimator struct{ root *apiservercel.DeclType }

func (s *sizeEstimator) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	path := element.Path()
	if len(path) == 0 {
		return nil
	}
	current := s.root
	for _, name := range path[1:] {
		switch name {
		case "@items", "@values":
			current = current.ElemType
		case "@keys":
			current = current.KeyType
		default:
			field, ok := current.Fields[name]
			if !ok {
				return nil
			}
			current = field.Type
		}
		if current == nil {
			return nil
		}
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(current.MaxElements)}
}

func (s *sizeEstimator) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

// showValue writes a value in a form that says its type; show-value.ts writes the same.
func showValue(value ref.Val) string {
	switch value := value.(type) {
	case types.Null:
		return "null"
	case types.String:
		return strings.TrimSpace(string(encode(string(value))))
	case types.Double:
		return fmt.Sprintf("double(%v)", float64(value))
	case types.Int:
		return strconv.FormatInt(int64(value), 10)
	case types.Bool:
		return strconv.FormatBool(bool(value))
	case types.Uint:
		return fmt.Sprintf("%du", uint64(value))
	case types.Bytes:
		return "b[" + hex.EncodeToString(value) + "]"
	case types.Timestamp:
		return "timestamp(" + value.UTC().Format(time.RFC3339Nano) + ")"
	case types.Duration:
		return fmt.Sprintf("duration(%d)", value.Nanoseconds())
	case *types.Optional:
		if !value.HasValue() {
			return "none"
		}
		return "of(" + showValue(value.GetValue()) + ")"
	case *types.Type:
		return "type(" + value.TypeName() + ")"
	case traits.Lister:
		return "[" + strings.Join(showItems(value), ", ") + "]"
	case traits.Mapper:
		return "{" + strings.Join(showEntries(value), ", ") + "}"
	}
	name := value.Type().TypeName()
	if strings.HasPrefix(name, "net.") {
		return fmt.Sprintf("%s:%v", name, value.Value())
	}
	return name
}

func showItems(list traits.Lister) []string {
	var items []string
	for each := list.Iterator(); each.HasNext() == types.True; {
		items = append(items, showValue(each.Next()))
	}
	return items
}

func showEntries(m traits.Mapper) []string {
	var entries []string
	for each := m.Iterator(); each.HasNext() == types.True; {
		key := each.Next()
		if key == nil {
			continue // Objects leave a gap for each field that rules cannot see.
		}
		value, found := m.Find(key)
		if !found {
			value = types.NullValue
		}
		entries = append(entries, showValue(key)+": "+showValue(value))
	}
	sort.Strings(entries)
	return entries
}

func untypedJSON(text json.RawMessage) any {
	r := &record{values: map[string]json.RawMessage{"value": text}}
	return untyped(r, "value")
}

var numberedType = regexp.MustCompile(`selfType\d+`)

// withoutTypeNumber: Kubernetes numbers the name of a schema's type by its clock.
func withoutTypeNumber(text string) string {
	return numberedType.ReplaceAllString(text, "selfType")
}
