//go:build tools

// Package tools names the program that go.mod pins.
package tools

import (
	_ "k8s.io/kubernetes/cmd/kubelet"
)
