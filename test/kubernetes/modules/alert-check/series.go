package main

import (
	"slices"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// queryable serves whole series: the engine cuts samples to the range that it asked for.
func queryable(all []storage.Series) storage.Queryable {
	selected := func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		var found []storage.Series
		for _, series := range all {
			matches := func(matcher *labels.Matcher) bool { return matcher.Matches(series.Labels().Get(matcher.Name)) }
			if !slices.ContainsFunc(matchers, func(matcher *labels.Matcher) bool { return !matches(matcher) }) {
				found = append(found, series)
			}
		}
		return &seriesSet{all: found, at: -1}
	}
	return &storage.MockQueryable{MockQuerier: &storage.MockQuerier{SelectMockFunction: selected}}
}

// seriesSet iterates over series that are in memory.
type seriesSet struct {
	all []storage.Series
	at  int
}

func (s *seriesSet) Next() bool {
	s.at++
	return s.at < len(s.all)
}

func (s *seriesSet) At() storage.Series                { return s.all[s.at] }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

// sample is a number at a time.
type sample struct {
	timeMs int64
	value  float64
}

func (s sample) T() int64                      { return s.timeMs }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }
