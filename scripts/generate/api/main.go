// Command api writes what the project has to know of Kubernetes' types: TypeScript types in src/kube/api, tables for the API server's
// decoders and mergers, and what Go makes of many objects and texts, for tests. scripts/generate.mjs runs it:
//
//	go run ./api ROOT
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

const generatedHeader = `// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
`

const (
	tablesPath   = "src/apiserver/schema/generated/tables.ts"
	goldenFolder = "src/apiserver/schema/testing"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./api ROOT")
		os.Exit(2)
	}
	root, all := os.Args[1], collect()
	write(root, tablesPath, tablesText(all))
	writeDescriptions(root, all)
	for _, each := range []view{storedView{}, readView{enums: readEnumerations(all)}} {
		for groupVersion, file := range typeFiles(each, all) {
			write(root, filepath.Join(each.folder(), fileOf(groupVersion)+".ts"), file.text())
		}
	}
	writeGolden(root)
}

func collect() *collector {
	all := &collector{openAPI: readOpenAPI(), types: map[reflect.Type]*apiType{}}
	for _, each := range groups {
		for _, root := range each.roots() {
			all.add(root, true)
		}
	}
	for i, each := range metaTypes {
		all.add(reflect.TypeOf(each), i < 8)
	}
	return all
}

func tablesText(all *collector) string {
	var blocks []string
	for _, each := range all.sorted() {
		blocks = append(blocks, each.lines())
	}
	text := strings.Join(blocks, "\n\n")
	if strings.ContainsAny(text, "`\\") || strings.Contains(text, "${") {
		panic("the tables contain what a template literal cannot")
	}
	var prefixes strings.Builder
	fmt.Fprintf(&prefixes, "  'meta/v1': '%s',\n", openAPIPrefix(metaPackage))
	for _, each := range groups {
		fmt.Fprintf(&prefixes, "  '%s': '%s',\n", each.name(), openAPIPrefix(each.goPackage))
	}
	return generatedHeader + fmt.Sprintf(`
/** The prefix of the names of published schemas, by group version. */
export const openApiPrefixes: Readonly<Record<string, string>> = {
%s};

/** All types, a block each; type-table.ts explains the form. */
export const tables = `+"`%s`;\n", prefixes.String(), text)
}

// write prints the path, so that the caller knows what was generated.
func write(root, path, text string) {
	check(os.WriteFile(filepath.Join(root, path), []byte(text), 0o644))
	fmt.Println(path)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
