// Command csi writes the messages and services of the Container Storage Interface, and those by which the kubelet finds drivers, as
// TypeScript. scripts/generate.mjs runs it:
//
//	go run . ROOT
//
// It compiles the definitions of the pinned modules and passes the result to protoc-gen-es, as protoc would.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	_ "github.com/container-storage-interface/spec/lib/go/csi" // Keeps the module, which contains csi.proto, in go.mod.
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
	_ "k8s.io/kubelet/pkg/apis/pluginregistration/v1" // Keeps the module, which contains api.proto, in go.mod.
)

// definition is a file of a module, and where its TypeScript goes.
type definition struct{ module, source, path string }

var definitions = []definition{
	{"github.com/container-storage-interface/spec", "csi.proto", "src/csi/generated/csi.ts"},
	{"k8s.io/kubelet", "pkg/apis/pluginregistration/v1/api.proto", "src/csi/generated/plugin-registration.ts"},
}

const (
	plugin = "../../../node_modules/.bin/protoc-gen-es"
	// TypeScript without `enum`, which our compiler settings forbid.
	parameter = "target=ts,erasable_syntax=true"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run . ROOT")
		os.Exit(2)
	}
	for _, each := range definitions {
		text := each.generate(each.compile())
		target := filepath.Join(os.Args[1], each.path)
		check(os.MkdirAll(filepath.Dir(target), 0o755))
		check(os.WriteFile(target, []byte(text), 0o644))
		fmt.Println(each.path)
	}
}

// compile returns the definition and what it imports, imports first, as a plugin expects them.
func (d definition) compile() []*descriptorpb.FileDescriptorProto {
	folder := strings.TrimSpace(run("go", "list", "-m", "-f", "{{.Dir}}", d.module))
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			ImportPaths: []string{folder},
			Accessor:    func(path string) (io.ReadCloser, error) { return os.Open(path) },
		}),
		// Comments become comments of the generated types.
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), d.source)
	check(err)
	var all []*descriptorpb.FileDescriptorProto
	seen := map[string]bool{}
	var add func(file protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		for i := range file.Imports().Len() {
			add(file.Imports().Get(i).FileDescriptor)
		}
		all = append(all, protoutil.ProtoFromFileDescriptor(file))
	}
	for _, file := range linker.Files(files) {
		add(file)
	}
	return all
}

func (d definition) generate(files []*descriptorpb.FileDescriptorProto) string {
	request, err := proto.Marshal(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{d.source},
		Parameter:      proto.String(parameter),
		ProtoFile:      files,
	})
	check(err)
	command := exec.Command(plugin)
	command.Stdin = bytes.NewReader(request)
	command.Stderr = os.Stderr
	answer, err := command.Output()
	check(err)
	var response pluginpb.CodeGeneratorResponse
	check(proto.Unmarshal(answer, &response))
	if response.Error != nil || len(response.File) != 1 {
		fmt.Fprintf(os.Stderr, "protoc-gen-es wrote %d files: %s\n", len(response.File), response.GetError())
		os.Exit(1)
	}
	return d.withHeader(response.File[0].GetContent())
}

// withHeader replaces the first comment, which is for readers of the definition.
func (d definition) withHeader(text string) string {
	_, rest, _ := strings.Cut(text, "\n\n")
	version := strings.TrimSpace(run("go", "list", "-m", "-f", "{{.Version}}", d.module))
	return fmt.Sprintf("// Generated from %s of %s %s by scripts/generate/csi; do not edit.\n\n%s", d.source, d.module, version, rest)
}

func run(name string, args ...string) string {
	output, err := exec.Command(name, args...).Output()
	check(err)
	return string(output)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
