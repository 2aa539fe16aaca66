package main

import (
	"bytes"
	"encoding/json"
	"math/big"
	"sort"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

const quantityVectors = "src/kube/testing/quantity-vectors.json"

// quantityTable is the whole file. Quantities go through JSON, as in objects.
type quantityTable struct {
	MadeWith     string      `json:"madeWith"`
	ValidColumns []string    `json:"validColumns"`
	Valid        [][5]string `json:"valid"`
	Invalid      []string    `json:"invalid"`
	PairColumns  []string    `json:"pairColumns"`
	Pairs        [][5]any    `json:"pairs"`
}

func quantityVectorsText(old []byte) []byte {
	var table quantityTable
	check(json.Unmarshal(old, &table))
	table.MadeWith = "ParseQuantity, String, Cmp, Add and Sub of k8s.io/apimachinery/pkg/api/resource"
	texts := table.Invalid
	for _, row := range table.Valid {
		texts = append(texts, row[0])
	}
	sort.Strings(texts)
	table.Valid, table.Invalid = nil, nil
	for _, text := range texts {
		if row, ok := describeQuantity(text); ok {
			table.Valid = append(table.Valid, row)
		} else {
			table.Invalid = append(table.Invalid, text)
		}
	}
	for i, pair := range table.Pairs {
		table.Pairs[i] = describePair(pair[0].(string), pair[1].(string))
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	check(encoder.Encode(table))
	return out.Bytes()
}

func parseQuantity(text string) (resource.Quantity, error) {
	var quantity resource.Quantity
	err := json.Unmarshal(bytes.TrimSpace(encode(text)), &quantity)
	return quantity, err
}

func describeQuantity(text string) ([5]string, bool) {
	quantity, err := parseQuantity(text)
	if err != nil {
		return [5]string{}, false
	}
	printed := quantity.String()
	exact := quantity.AsDec()
	nano := new(inf.Dec).Mul(exact, inf.NewDec(1_000_000_000, 0))
	bytes := new(inf.Dec).Round(exact, 0, inf.RoundUp)
	return [5]string{text, string(quantity.Format), printed, whole(nano).String(), whole(bytes).String()}, true
}

// whole gives the value of a decimal that has no fraction.
func whole(value *inf.Dec) *big.Int {
	return new(inf.Dec).Round(value, 0, inf.RoundExact).UnscaledBig()
}

func describePair(a, b string) [5]any {
	first, err := parseQuantity(a)
	check(err)
	second, err := parseQuantity(b)
	check(err)
	sum, difference := first.DeepCopy(), first.DeepCopy()
	sum.Add(second)
	difference.Sub(second)
	return [5]any{a, b, first.Cmp(second), sum.String(), difference.String()}
}
