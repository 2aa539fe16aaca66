package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const descriptionsPath = "deploy/openapi-descriptions.json.gz"

// describedType is what kubectl explain prints about a type and its fields.
type describedType struct {
	Description string            `json:"description,omitempty"`
	Fields      map[string]string `json:"fields,omitempty"`
}

// descriptionsOf are those of the types in the tables, of the lists of kinds, and of the leaf types, by the names of their published schemas. Most texts are in
// English prose, so they are kept compressed: the server reads them only when a client asks for a document.
func descriptionsOf(all *collector) map[string]describedType {
	found := map[string]describedType{}
	for _, each := range all.sorted() {
		name := openAPIName(each.goType)
		found[name] = describe(all.openAPI[publishedName(each.goType)])
		// The tables leave out the lists of kinds, since they are all alike.
		if list, known := all.openAPI[publishedName(each.goType)+"List"]; known && each.kind {
			found[name+"List"] = describe(list)
		}
	}
	for name, published := range all.openAPI {
		if _, known := found[name]; !known && len(published.Properties) == 0 && published.Description != "" {
			found[name] = describedType{Description: published.Description}
		}
	}
	return found
}

func describe(published schema) describedType {
	described := describedType{Description: published.Description, Fields: map[string]string{}}
	for field, property := range published.Properties {
		if property.Description != "" {
			described.Fields[field] = property.Description
		}
	}
	return described
}

// writeDescriptions writes the same bytes for the same texts: maps are sorted, and the archive has no time.
func writeDescriptions(root string, all *collector) {
	text, err := json.Marshal(descriptionsOf(all))
	check(err)
	var packed bytes.Buffer
	archive, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	check(err)
	_, err = archive.Write(text)
	check(err)
	check(archive.Close())
	check(os.WriteFile(filepath.Join(root, descriptionsPath), packed.Bytes(), 0o644))
	fmt.Println(descriptionsPath)
}
