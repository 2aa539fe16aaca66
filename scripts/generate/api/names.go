package main

import (
	"reflect"
	"strings"
)

const metaPackage = "k8s.io/apimachinery/pkg/apis/meta/v1"

func fullName(goType reflect.Type) string {
	return goType.PkgPath() + "." + goType.Name()
}

// groupVersion returns core/v1 for k8s.io/api/core/v1, storage.k8s.io/v1 for k8s.io/api/storage/v1.
func groupVersion(goType reflect.Type) string {
	path := goType.PkgPath()
	if path == metaPackage {
		return "meta/v1"
	}
	for _, each := range groups {
		if each.goPackage == path {
			return each.name()
		}
	}
	panic("no group for " + goType.String() + " of " + path)
}

func typeID(goType reflect.Type) string {
	return groupVersion(goType) + "." + goType.Name()
}

// fileOf returns core for core/v1 and storage for storage.k8s.io/v1; storage-v1beta1 for a version beside v1.
func fileOf(groupVersion string) string {
	group, version, _ := strings.Cut(groupVersion, "/")
	group, _, _ = strings.Cut(group, ".")
	if version == "v1" {
		return group
	}
	return group + "-" + version
}

// openAPIPrefix returns io.k8s.api.core.v1. for k8s.io/api/core/v1.
func openAPIPrefix(goPackage string) string {
	_, path, _ := strings.Cut(goPackage, "/")
	return "io.k8s." + strings.ReplaceAll(path, "/", ".") + "."
}

func openAPIName(goType reflect.Type) string {
	return openAPIPrefix(goType.PkgPath()) + goType.Name()
}

// publishedName is the name of the schema that describes a type's fields: usually that of the type itself. A type that is only
// embedded in another has no schema; the other type's schema describes its fields.
func publishedName(goType reflect.Type) string {
	if goType.Name() == "EphemeralContainerCommon" {
		return openAPIPrefix(goType.PkgPath()) + "EphemeralContainer"
	}
	return openAPIName(goType)
}
