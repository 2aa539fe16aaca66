package main

import (
	"bytes"
	"encoding/json"
	"slices"
)

// record is a JSON object whose fields keep their order, and their texts where nothing is set.
type record struct {
	names  []string
	values map[string]json.RawMessage
}

func (r *record) UnmarshalJSON(text []byte) error {
	r.names, r.values = nil, map[string]json.RawMessage{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		r.names = append(r.names, name.(string))
		r.values[name.(string)] = value
	}
	return nil
}

func (r *record) MarshalJSON() ([]byte, error) {
	out := bytes.NewBufferString("{")
	for i, name := range r.names {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(bytes.TrimSpace(encode(name)))
		out.WriteByte(':')
		out.Write(r.values[name])
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func (r *record) has(name string) bool {
	return slices.Contains(r.names, name)
}

// into decodes a field; one that is not there leaves the target as it is.
func (r *record) into(name string, target any) {
	if r.has(name) {
		check(json.Unmarshal(r.values[name], target))
	}
}

func (r *record) text(name string) string {
	var text string
	r.into(name, &text)
	return text
}

// keep drops all fields but the inputs, and puts these in order.
func (r *record) keep(inputs ...string) {
	r.names = slices.DeleteFunc(slices.Clone(inputs), func(name string) bool { return r.values[name] == nil })
}

func (r *record) set(name string, value any) {
	if !r.has(name) {
		r.names = append(r.names, name)
	}
	r.values[name] = bytes.TrimSpace(encode(value))
}
