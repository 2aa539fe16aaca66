package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunks"
)

// Case is a situation in which an alert is evaluated.
type Case struct {
	Alert string `json:"alert"`
	// Prometheus' notation, one sample a minute: `up{job="a"} 1 1 0x10`.
	Series []string `json:"series"`
}

const (
	samplesEvery = time.Minute
	samplesMax   = 1_000_000
)

type evaluator struct {
	parse  parser.Parser
	engine *promql.Engine
	rules  map[string]rulefmt.Rule
}

func newEvaluator(parse parser.Parser, groups *rulefmt.RuleGroups) *evaluator {
	rules := map[string]rulefmt.Rule{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			rules[rule.Alert] = rule
		}
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: samplesMax, Timeout: time.Minute, Parser: parse})
	return &evaluator{parse: parse, engine: engine, rules: rules}
}

// firing returns the labels of alerts that fire at the last sample: the expression has held at every evaluation for as long as the rule says.
func (e *evaluator) firing(given Case) ([]string, error) {
	rule, isKnown := e.rules[given.Alert]
	if !isKnown {
		return nil, fmt.Errorf("there is no such alert")
	}
	series, end, err := e.load(given.Series)
	if err != nil {
		return nil, err
	}
	start := end.Add(-time.Duration(rule.For))
	if start.Before(time.Unix(0, 0)) {
		return nil, fmt.Errorf("the series end before %s", time.Duration(rule.For))
	}
	query, err := e.engine.NewRangeQuery(context.Background(), queryable(series), nil, rule.Expr, start, end, samplesEvery)
	if err != nil {
		return nil, err
	}
	defer query.Close()
	result, err := query.Exec(context.Background()).Matrix()
	if err != nil {
		return nil, err
	}
	steps := int(end.Sub(start)/samplesEvery) + 1
	firing := []string{}
	for _, each := range result {
		if len(each.Floats) == steps {
			firing = append(firing, each.Metric.String())
		}
	}
	slices.Sort(firing)
	return firing, nil
}

func (e *evaluator) load(descriptions []string) ([]storage.Series, time.Time, error) {
	var series []storage.Series
	var end time.Time
	for _, description := range descriptions {
		set, values, err := e.parse.ParseSeriesDesc(description)
		if err != nil {
			return nil, end, fmt.Errorf("%s: %w", description, err)
		}
		var samples []chunks.Sample
		for at, value := range values {
			when := time.Unix(0, 0).Add(time.Duration(at) * samplesEvery)
			if when.After(end) {
				end = when
			}
			if !value.Omitted {
				samples = append(samples, sample{timeMs: when.UnixMilli(), value: value.Value})
			}
		}
		series = append(series, storage.NewListSeries(set, samples))
	}
	if end.IsZero() {
		return nil, end, fmt.Errorf("a case needs a series, also one that has nothing to do with the alert: it ends the time")
	}
	return series, end, nil
}
