//go:build tools

// Package tools names the program that go.mod pins.
package tools

import _ "helm.sh/helm/v4/cmd/helm"
