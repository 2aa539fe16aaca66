package main

import (
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// group is a group version of the generated files. Without kinds it has all of them, except lists and options.
type group struct {
	goPackage string
	version   apischema.GroupVersion
	addTo     func(*runtime.Scheme) error
	kinds     []string
}

var groups = []group{
	{"k8s.io/api/core/v1", corev1.SchemeGroupVersion, corev1.AddToScheme, []string{
		"Binding", "ComponentStatus", "ConfigMap", "Endpoints", "Event", "LimitRange", "Namespace", "Node", "PersistentVolume",
		"PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount",
	}},
	{"k8s.io/api/apps/v1", appsv1.SchemeGroupVersion, appsv1.AddToScheme, nil},
	{"k8s.io/api/authentication/v1", authenticationv1.SchemeGroupVersion, authenticationv1.AddToScheme, nil},
	{"k8s.io/api/authorization/v1", authorizationv1.SchemeGroupVersion, authorizationv1.AddToScheme, nil},
	{"k8s.io/api/autoscaling/v1", autoscalingv1.SchemeGroupVersion, autoscalingv1.AddToScheme, []string{"Scale"}},
	{"k8s.io/api/batch/v1", batchv1.SchemeGroupVersion, batchv1.AddToScheme, nil},
	{"k8s.io/api/coordination/v1", coordinationv1.SchemeGroupVersion, coordinationv1.AddToScheme, nil},
	{"k8s.io/api/discovery/v1", discoveryv1.SchemeGroupVersion, discoveryv1.AddToScheme, nil},
	{"k8s.io/api/events/v1", eventsv1.SchemeGroupVersion, eventsv1.AddToScheme, nil},
	{"k8s.io/api/node/v1", nodev1.SchemeGroupVersion, nodev1.AddToScheme, nil},
	{"k8s.io/api/policy/v1", policyv1.SchemeGroupVersion, policyv1.AddToScheme, nil},
	{"k8s.io/api/rbac/v1", rbacv1.SchemeGroupVersion, rbacv1.AddToScheme, nil},
	{"k8s.io/api/resource/v1", resourcev1.SchemeGroupVersion, resourcev1.AddToScheme, nil},
	{"k8s.io/api/scheduling/v1", schedulingv1.SchemeGroupVersion, schedulingv1.AddToScheme, nil},
	{"k8s.io/api/storage/v1", storagev1.SchemeGroupVersion, storagev1.AddToScheme, nil},
	{extensions, apiextensionsv1.SchemeGroupVersion, apiextensionsv1.AddToScheme, []string{"CustomResourceDefinition"}},
}

// metaTypes are the types of meta/v1, which has no scheme with kinds.
var metaTypes = []any{
	metav1.Status{}, metav1.DeleteOptions{}, metav1.CreateOptions{}, metav1.PatchOptions{}, metav1.UpdateOptions{},
	metav1.ListOptions{}, metav1.GetOptions{}, metav1.PartialObjectMetadata{},
	metav1.ObjectMeta{}, metav1.ListMeta{}, metav1.LabelSelector{}, metav1.Condition{},
}

func (g group) name() string {
	if g.version.Group == "" {
		return "core/" + g.version.Version
	}
	return g.version.String()
}

// roots returns the kinds of a group, by name.
func (g group) roots() map[string]reflect.Type {
	scheme := runtime.NewScheme()
	check(g.addTo(scheme))
	roots := map[string]reflect.Type{}
	for kind, goType := range scheme.KnownTypes(g.version) {
		wanted := slices.Contains(g.kinds, kind)
		if g.kinds == nil {
			wanted = goType.PkgPath() == g.goPackage && !strings.HasSuffix(kind, "List") && !strings.HasSuffix(kind, "Options")
		}
		if wanted {
			roots[kind] = goType
		}
	}
	return roots
}
