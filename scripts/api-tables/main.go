// Command api-tables writes what the embedded API server has to know of Kubernetes' types: tables for the decoders and mergers,
// TypeScript interfaces, and (in testing/, beside the folder) what Go makes of many objects. Run it in this folder:
//
//	go run . ../../src/apiserver/schema/generated
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
)

const generatedHeader = `// Generated from the types of Kubernetes v1.36.3 (k8s.io/api v0.36.3); do not edit. To write it anew:
// go run . ../../src/apiserver/schema/generated (in scripts/api-tables)
`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run . ../../src/apiserver/schema/generated")
		os.Exit(2)
	}
	folder := os.Args[1]
	all := collect()
	check(os.MkdirAll(folder, 0o755))
	written := []string{write(folder, "tables.ts", tablesText(all))}
	for groupVersion, file := range interfaceFiles(all) {
		written = append(written, write(folder, fileOf(groupVersion)+".ts", file.text()))
	}
	format(written)
	writeGolden(goldenFolder(folder))
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

func interfaceFiles(all *collector) map[string]*interfaceFile {
	files := map[string]*interfaceFile{}
	for _, each := range all.sorted() {
		name := groupVersion(each.goType)
		if files[name] == nil {
			files[name] = &interfaceFile{groupVersion: name, imports: map[string]map[string]bool{}}
		}
		files[name].add(each, all.types)
	}
	return files
}

func tablesText(all *collector) string {
	var blocks []string
	for _, each := range all.sorted() {
		blocks = append(blocks, each.lines())
	}
	text := strings.Join(blocks, "\n\n")
	if strings.ContainsAny(text, "`\\") || strings.Contains(text, "${") {
		panic("the tables hold what a template literal can't")
	}
	var prefixes strings.Builder
	fmt.Fprintf(&prefixes, "  'meta/v1': '%s',\n", openAPIPrefix(metaPackage))
	for _, each := range groups {
		fmt.Fprintf(&prefixes, "  '%s': '%s',\n", each.name(), openAPIPrefix(each.goPackage))
	}
	return generatedHeader + fmt.Sprintf(`
/** What the names of published schemas begin with, by group version. */
export const openApiPrefixes: Readonly<Record<string, string>> = {
%s};

/** All types, a block each; type-table.ts explains the form. */
export const tables = `+"`%s`;\n", prefixes.String(), text)
}

func write(folder, name, text string) string {
	path, err := filepath.Abs(filepath.Join(folder, name))
	check(err)
	check(os.WriteFile(path, []byte(text), 0o644))
	return path
}

// format has the project's formatter lay the files out as the rest of the code.
func format(paths []string) {
	command := exec.Command("npx", append([]string{"biome", "check", "--write"}, paths...)...)
	command.Dir = filepath.Join("..", "..")
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	check(command.Run())
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
