package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// enumeration is a Go type of strings with all of its values.
type enumeration struct {
	name         string
	groupVersion string
	values       []string
}

// enumerations are the closed ones, by their full Go names.
type enumerations map[string]*enumeration

// readEnumerations reads Go's sources: reflection knows nothing of constants. A type is closed if it is marked with +enum, as for
// the published schemas, or if we say so.
func readEnumerations(all *collector) enumerations {
	found := enumerations{}
	found.read(metaPackage, metaVersion)
	for _, each := range groups {
		found.read(each.goPackage, each.name())
	}
	for _, id := range closedTypes {
		if !slices.ContainsFunc(sortedKeys(found), func(name string) bool { return found[name].groupVersion+"."+found[name].name == id }) {
			panic("no constants of the type " + id)
		}
	}
	used := all.namedStrings()
	for _, name := range sortedKeys(found) {
		if !used[name] {
			delete(found, name)
		}
	}
	return found
}

func (e enumerations) of(groupVersion string) []*enumeration {
	var all []*enumeration
	for _, name := range sortedKeys(e) {
		if e[name].groupVersion == groupVersion {
			all = append(all, e[name])
		}
	}
	return all
}

func (e *enumeration) union() string {
	var quoted []string
	for _, value := range e.values {
		quoted = append(quoted, "'"+value+"'")
	}
	return strings.Join(quoted, " | ")
}

func (e enumerations) read(goPackage, groupVersion string) {
	folder, err := exec.Command("go", "list", "-f", "{{.Dir}}", goPackage).Output()
	check(err)
	paths, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(folder)), "*.go"))
	check(err)
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		check(err)
		for _, declaration := range file.Decls {
			if general, ok := declaration.(*ast.GenDecl); ok {
				e.readTypes(general, goPackage, groupVersion)
			}
		}
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		check(err)
		for _, declaration := range file.Decls {
			if general, ok := declaration.(*ast.GenDecl); ok && general.Tok == token.CONST {
				e.readConstants(general, goPackage)
			}
		}
	}
	for name, each := range e {
		if each.groupVersion == groupVersion && len(each.values) == 0 {
			delete(e, name)
		}
	}
}

func (e enumerations) readTypes(declaration *ast.GenDecl, goPackage, groupVersion string) {
	for _, spec := range declaration.Specs {
		named, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		base, ok := named.Type.(*ast.Ident)
		if ok && base.Name == "string" && (hasEnumMarker(declaration.Doc) || slices.Contains(closedTypes, groupVersion+"."+named.Name.Name)) {
			e[goPackage+"."+named.Name.Name] = &enumeration{name: named.Name.Name, groupVersion: groupVersion}
		}
	}
}

func hasEnumMarker(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(line *ast.Comment) bool {
		return strings.TrimSpace(strings.TrimPrefix(line.Text, "//")) == "+enum"
	})
}

func (e enumerations) readConstants(declaration *ast.GenDecl, goPackage string) {
	for _, spec := range declaration.Specs {
		constant := spec.(*ast.ValueSpec)
		typed, ok := constant.Type.(*ast.Ident)
		if !ok || e[goPackage+"."+typed.Name] == nil {
			continue
		}
		for _, value := range constant.Values {
			literal, ok := value.(*ast.BasicLit)
			if !ok {
				panic("not a literal: " + constant.Names[0].Name)
			}
			text, err := strconv.Unquote(literal.Value)
			check(err)
			known := e[goPackage+"."+typed.Name]
			if !slices.Contains(known.values, text) {
				known.values = append(known.values, text)
			}
		}
	}
}
