//go:build tools

// Package tools names the program that go.mod pins.
package tools

import _ "github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity"
