// alert-check reads rules, queries and cases as JSON and says what Prometheus' own parser and engine make of them.
package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// Question is the standard input.
type Question struct {
	// The text of a rule file.
	Rules string `json:"rules"`
	// Queries of dashboards.
	Queries []string `json:"queries"`
	Cases   []Case   `json:"cases"`
}

// Answer is the standard output.
type Answer struct {
	// What is wrong with the rules and the queries.
	Problems []string `json:"problems"`
	// For each case, the labels of the alerts that fire.
	Firing [][]string `json:"firing"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var question Question
	if err := json.NewDecoder(os.Stdin).Decode(&question); err != nil {
		return err
	}
	parse := parser.NewParser(parser.Options{})
	answer := Answer{Problems: []string{}, Firing: [][]string{}}
	groups, errs := rulefmt.Parse([]byte(question.Rules), false, model.LegacyValidation, parse, slog.New(slog.DiscardHandler))
	for _, err := range errs {
		answer.Problems = append(answer.Problems, err.Error())
	}
	for _, query := range question.Queries {
		if _, err := parse.ParseExpr(query); err != nil {
			answer.Problems = append(answer.Problems, fmt.Sprintf("%s: %v", query, err))
		}
	}
	if len(errs) == 0 {
		evaluator := newEvaluator(parse, groups)
		for _, each := range question.Cases {
			firing, err := evaluator.firing(each)
			if err != nil {
				return fmt.Errorf("%s: %w", each.Alert, err)
			}
			answer.Firing = append(answer.Firing, firing)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(answer)
}
