// Command vectors refreshes the test vectors: files with inputs and with what Kubernetes' own Go code makes of them. The inputs stay
// as they are in the files; the answers are computed again. scripts/generate.mjs runs it:
//
//	go run ./vectors ROOT
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/klog/v2"
)

// mapOrders is how often something is tried whose answer depends on the order of a Go map: enough to see every order of a small one.
const mapOrders = 32

// vectorFile is a file with a JSON value on each line.
type vectorFile struct {
	path    string
	refresh func(lines []json.RawMessage) []any
}

var vectorFiles = []vectorFile{
	{"src/kube/testing/upstream-vectors.ndjson", each(refreshKubeRule)},
	{"src/apiserver/validation/testing/vectors.ndjson", each(refreshValidation)},
	{"src/apiserver/patch/testing/strategic.ndjson", each(refreshStrategicPatch)},
	{"src/apiserver/patch/testing/json-and-merge.ndjson", each(refreshJSONPatch)},
	{"src/apiserver/apply/testing/list-orders.ndjson", refreshListOrders},
	{"src/apiserver/apply/testing/custom-kind-histories.ndjson", each(refreshCustomObject)},
	{"src/apiserver/managed-fields/testing/library.ndjson", each(refreshWriteSequence)},
	{"src/apiserver/structural/testing/vectors.ndjson", each(refreshStructural)},
	{"src/apiserver/cel/testing/expressions.jsonl", refreshExpressions},
	{"src/apiserver/cel/testing/parts.jsonl", each(refreshPart)},
	{"src/apiserver/cel/testing/objects.jsonl", each(refreshRules)},
	{"src/apiserver/cel/testing/definitions.jsonl", each(refreshDefinition)},
	{"src/engine/testing/resource-vectors.ndjson", each(refreshResources)},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./vectors ROOT")
		os.Exit(2)
	}
	silenceLog()
	root := os.Args[1]
	write(root, quantityVectors, quantityVectorsText(read(root, quantityVectors)))
	for _, file := range slices.Concat(vectorFiles, tableFiles(root)) {
		var lines []json.RawMessage
		for _, line := range bytes.Split(bytes.TrimSpace(read(root, file.path)), []byte("\n")) {
			lines = append(lines, line)
		}
		var out bytes.Buffer
		for _, refreshed := range file.refresh(lines) {
			out.Write(encode(refreshed))
		}
		write(root, file.path, out.Bytes())
	}
}

// silenceLog: Kubernetes logs what is wrong with the inputs, which are wrong on purpose.
func silenceLog() {
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	check(flags.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL"}))
	klog.SetOutput(io.Discard)
}

// each refreshes every line for itself.
func each(refresh func(r *record)) func([]json.RawMessage) []any {
	return func(lines []json.RawMessage) []any {
		var out []any
		for i, line := range lines {
			r := &record{}
			if err := json.Unmarshal(line, r); err != nil {
				panic(fmt.Sprintf("line %d: %v", i+1, err))
			}
			refresh(r)
			out = append(out, r)
		}
		return out
	}
}

// encode writes a value and the end of its line; nothing is escaped for HTML.
func encode(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(value))
	return out.Bytes()
}

func read(root, path string) []byte {
	text, err := os.ReadFile(filepath.Join(root, path))
	check(err)
	return text
}

// write prints the path, so that the caller knows what was generated.
func write(root, path string, text []byte) {
	check(os.WriteFile(filepath.Join(root, path), text, 0o644))
	fmt.Println(path)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
