package main

import (
	"encoding/json"

	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

const setSchema = `types:
- name: set
  list:
    elementType:
      scalar: string
    elementRelationship: associative
`

// refreshListOrders answers list-orders.ndjson: on each line a set, a configuration of it, and the merged set.
func refreshListOrders(lines []json.RawMessage) []any {
	parser, err := typed.NewParser(setSchema)
	check(err)
	set := parser.Type("set")
	var out []any
	for _, line := range lines {
		var lists [][]any
		check(json.Unmarshal(line, &lists))
		live, err := set.FromUnstructured(lists[0], typed.AllowDuplicates)
		check(err)
		config, err := set.FromUnstructured(lists[1])
		check(err)
		merged, err := live.Merge(config)
		check(err)
		out = append(out, []any{lists[0], lists[1], merged.AsValue().Unstructured()})
	}
	return out
}
