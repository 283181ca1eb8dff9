package main

import "github.com/berth-go/berth/internal/wire"

var textGenerators = map[string]generator{
	"StringNormalizer": {10, stringNormalizer}, "StringConcat": {20, stringConcat}, "StringSplit": {20, stringSplit},
	"RegexFullMatch": {20, regexFullMatch}, "TfIdfVectorizer": {9, tfIdf},
}

func stringNormalizer(d *draw) {
	d.maybe(func() { d.str("case_change_action", one(d, "NONE", "LOWER", "UPPER")) })
	d.maybe(func() { d.int("is_case_sensitive", d.Int64N(2)) })
	d.maybe(func() { d.strs("stopwords", "a", "B") })
	d.str("locale", "C") // another is to be installed where ONNX Runtime runs
	if d.coin() {
		d.input(wire.String, []int64{d.full()})
	} else {
		d.input(wire.String, []int64{1, d.full()})
	}
	d.output(wire.String)
}

func stringConcat(d *draw) { paired([]wire.DataType{wire.String})(d) }

func stringSplit(d *draw) {
	d.maybe(func() { d.str("delimiter", one(d, "", " ", "a")) })
	d.maybe(func() { d.int("maxsplit", d.Int64N(3)) })
	d.input(wire.String, d.solid(0, 2))
	d.output(wire.String, wire.Int64)
}

func regexFullMatch(d *draw) {
	d.str("pattern", one(d, "a.*", "[a-z ]+", "", ".*", `-?\d+(\.\d+)?`))
	d.input(wire.String, d.shape(0, 2))
	d.output(wire.Bool)
}

func tfIdf(d *draw) {
	d.str("mode", one(d, "TF", "IDF", "TFIDF"))
	d.int("min_gram_length", 1)
	d.int("max_gram_length", 2)
	d.int("max_skip_count", d.Int64N(3))
	d.ints("ngram_counts", 0, 3)
	d.ints("ngram_indexes", 0, 1, 2, 3, 4)
	d.ints("pool_int64s", 1, 2, 3, 1, 2, 3, 1)
	d.maybe(func() { d.floats("weights", 1, 2, 0.5, 3, 4) })
	dims := []int64{d.extent()}
	d.maybe(func() { dims = []int64{d.full(), d.extent()} })
	d.add(numbersOf(one(d, indices...), dims, func() float64 { return float64(d.IntN(5)) }), false)
	d.output(wire.Float)
}
