// Command policy writes the roles and bindings that kube-apiserver creates at its start. scripts/generate.mjs runs it:
//
//	go run ./policy ROOT
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	policy "k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

const path = "src/apiserver/access/generated/bootstrap-policy.ts"

// role and binding are BootstrapRole and BootstrapBinding of bootstrap-types.ts.
type role struct {
	Name       string              `json:"name"`
	Namespace  string              `json:"namespace,omitempty"`
	Labels     map[string]string   `json:"labels,omitempty"`
	Aggregates []map[string]string `json:"aggregates,omitempty"`
	Rules      []rule              `json:"rules"`
}

type rule struct {
	APIGroups       []string `json:"apiGroups,omitempty"`
	NonResourceURLs []string `json:"nonResourceURLs,omitempty"`
	ResourceNames   []string `json:"resourceNames,omitempty"`
	Resources       []string `json:"resources,omitempty"`
	Verbs           []string `json:"verbs"`
}

type binding struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Role      string            `json:"role"`
	Subjects  []subject         `json:"subjects"`
}

type subject struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./policy ROOT")
		os.Exit(2)
	}
	text := `// Generated from the bootstrap policy of Kubernetes; do not edit. To regenerate: npm run generate
import type { BootstrapBinding, BootstrapRole } from '../bootstrap-types.ts';
` + declaration("bootstrapRoles", "BootstrapRole", roles()) + declaration("bootstrapBindings", "BootstrapBinding", bindings())
	check(os.WriteFile(filepath.Join(os.Args[1], path), []byte(text), 0o644))
	fmt.Println(path)
}

func declaration(name, goType string, values any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(values))
	return fmt.Sprintf("\nexport const %s: readonly %s[] = %s;\n", name, goType, bytes.TrimSpace(out.Bytes()))
}

func roles() []role {
	var all []role
	for _, each := range slices.Concat(policy.ClusterRoles(), policy.ControllerRoles()) {
		described := describeRole(each.ObjectMeta, "", each.Rules)
		if each.AggregationRule != nil {
			for _, selector := range each.AggregationRule.ClusterRoleSelectors {
				described.Aggregates = append(described.Aggregates, selector.MatchLabels)
			}
		}
		all = append(all, described)
	}
	for namespace, some := range policy.NamespaceRoles() {
		for _, each := range some {
			all = append(all, describeRole(each.ObjectMeta, namespace, each.Rules))
		}
	}
	sort.Slice(all, func(i, j int) bool { return before(all[i].Namespace, all[i].Name, all[j].Namespace, all[j].Name) })
	return all
}

func describeRole(meta metav1.ObjectMeta, namespace string, rules []rbacv1.PolicyRule) role {
	described := role{Name: meta.Name, Namespace: namespace, Labels: ownLabels(meta), Rules: []rule{}}
	for _, each := range rules {
		described.Rules = append(described.Rules, rule{each.APIGroups, each.NonResourceURLs, each.ResourceNames, each.Resources, each.Verbs})
	}
	return described
}

func bindings() []binding {
	var all []binding
	for _, each := range slices.Concat(policy.ClusterRoleBindings(), policy.ControllerRoleBindings()) {
		all = append(all, describeBinding(each.ObjectMeta, "", each.RoleRef, each.Subjects))
	}
	for namespace, some := range policy.NamespaceRoleBindings() {
		for _, each := range some {
			all = append(all, describeBinding(each.ObjectMeta, namespace, each.RoleRef, each.Subjects))
		}
	}
	sort.Slice(all, func(i, j int) bool { return before(all[i].Namespace, all[i].Name, all[j].Namespace, all[j].Name) })
	return all
}

func describeBinding(meta metav1.ObjectMeta, namespace string, role rbacv1.RoleRef, subjects []rbacv1.Subject) binding {
	described := binding{Name: meta.Name, Namespace: namespace, Labels: ownLabels(meta), Role: role.Kind + "/" + role.Name, Subjects: []subject{}}
	for _, each := range subjects {
		described.Subjects = append(described.Subjects, subject{each.Kind, each.Name, each.Namespace})
	}
	return described
}

// ownLabels are the labels besides the one that all default roles have.
func ownLabels(meta metav1.ObjectMeta) map[string]string {
	own := map[string]string{}
	for key, value := range meta.Labels {
		if key != "kubernetes.io/bootstrapping" {
			own[key] = value
		}
	}
	return own
}

func before(namespace, name, otherNamespace, otherName string) bool {
	if namespace != otherNamespace {
		return namespace < otherNamespace
	}
	return name < otherName
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
