package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/printers"
	"k8s.io/kubernetes/pkg/printers/internalversion"
)

// tableFiles are in many folders: objects of our kinds, and how tables show them.
func tableFiles(root string) []vectorFile {
	var files []vectorFile
	check(filepath.WalkDir(filepath.Join(root, "src/apiserver/kinds"), func(path string, _ fs.DirEntry, err error) error {
		check(err)
		relative, err := filepath.Rel(root, path)
		check(err)
		switch {
		case strings.HasSuffix(path, "/testing/rows.ndjson"):
			files = append(files, vectorFile{relative, each(refreshRow)})
		case strings.HasSuffix(path, "/testing/tables.ndjson"):
			files = append(files, vectorFile{relative, each(refreshTable)})
		}
		return nil
	}))
	return files
}

// refreshRow answers a line of rows.ndjson: an object and the time at which it is shown.
func refreshRow(r *record) {
	var nowMs int64
	r.into("nowMs", &nowMs)
	columns, cells := tableOf(r, time.UnixMilli(nowMs))
	r.set("columns", columns)
	r.set("cells", cells)
}

// refreshTable answers a line of tables.ndjson. What discovery says about the kind is recorded from a server and stays; cells that
// show an age are null.
func refreshTable(r *record) {
	var before []any
	r.into("cells", &before)
	columns, cells := tableOf(r, time.Now())
	for i := range cells {
		if i < len(before) && before[i] == nil {
			cells[i] = nil
		}
	}
	r.set("columns", columns)
	r.set("cells", cells)
}

type column struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Format   string `json:"format,omitempty"`
	Priority int32  `json:"priority,omitempty"`
}

func tableOf(r *record, now time.Time) ([]column, []any) {
	table, err := printers.NewTableGenerator().With(internalversion.AddHandlers).
		GenerateTable(internalObject(r, now), printers.GenerateOptions{Wide: true})
	if err != nil || usesDefaultTable(r) {
		table, err = rest.NewDefaultTableConvertor(schema.GroupResource{}).
			ConvertToTable(context.Background(), internalObject(r, time.Now()), &metav1.TableOptions{})
		check(err)
	}
	var columns []column
	for _, each := range table.ColumnDefinitions {
		columns = append(columns, column{each.Name, each.Type, each.Format, each.Priority})
	}
	return columns, slices.Clone(table.Rows[0].Cells)
}

// usesDefaultTable: there is a printer for capacities, but kube-apiserver does not use it.
func usesDefaultTable(r *record) bool {
	var kind metav1.TypeMeta
	r.into("object", &kind)
	return kind.Kind == "CSIStorageCapacity"
}

// internalObject reads the object as it would be now: printers show ages by the clock.
func internalObject(r *record, now time.Time) runtime.Object {
	var kind metav1.TypeMeta
	r.into("object", &kind)
	gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
	external, err := legacyscheme.Scheme.New(gvk)
	check(err)
	var value any
	r.into("object", &value)
	check(json.Unmarshal(encode(shiftTimes(value, time.Since(now))), external))
	internal, err := legacyscheme.Scheme.ConvertToVersion(external, schema.GroupVersion{Group: gvk.Group, Version: runtime.APIVersionInternal})
	check(err)
	return internal
}

func shiftTimes(value any, by time.Duration) any {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			value[key] = shiftTimes(inner, by)
		}
	case []any:
		for i, inner := range value {
			value[i] = shiftTimes(inner, by)
		}
	case string:
		if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return at.Add(by).UTC().Format("2006-01-02T15:04:05.000000Z07:00")
		}
	}
	return value
}
