package schedule

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// random returns a random problem of the given kind with about n steps.
func random(r *rand.Rand, kind string, n int, sizes func(*rand.Rand) int64) *Problem {
	p := &Problem{Steps: n}
	for range n {
		p.Values = append(p.Values, Value{Bytes: sizes(r), Writer: len(p.Values)})
	}
	edge := func(a, b int) { p.Values[a].Readers = append(p.Values[a].Readers, b) }
	switch kind {
	case "sparse":
		for b := 1; b < n; b++ {
			for range 1 + r.IntN(2) {
				edge(r.IntN(b), b)
			}
		}
	case "local":
		for b := 1; b < n; b++ {
			for range 1 + r.IntN(3) {
				edge(max(0, b-1-r.IntN(8)), b)
			}
		}
	case "layered":
		width := 2 + r.IntN(4)
		for b := width; b < n; b++ {
			layer := b / width * width
			for range 1 + r.IntN(2) {
				edge(layer-width+r.IntN(width), b)
			}
		}
	case "tree": // towards the last step
		for a := range n - 1 {
			edge(a, a+1+r.IntN(min(4, n-1-a)))
		}
	case "series-parallel":
		seriesParallel(r, 0, n, edge)
	case "scattered":
		for b := range n {
			for a := range b {
				if r.IntN(n) == 0 {
					edge(a, b)
				}
			}
		}
	default:
		panic(kind)
	}
	return p
}

// seriesParallel joins steps from to to, exclusive, with one beginning and one
// end.
func seriesParallel(r *rand.Rand, from, to int, edge func(a, b int)) {
	switch n := to - from; {
	case n <= 1:
	case n == 2:
		edge(from, from+1)
	case r.IntN(3) == 0:
		mid := from + 1 + r.IntN(n-1)
		seriesParallel(r, from, mid, edge)
		seriesParallel(r, mid, to, edge)
		edge(mid-1, mid)
	default:
		for at := from + 1; at < to-1; {
			next := at + 1 + r.IntN(to-1-at)
			seriesParallel(r, at, next, edge)
			edge(from, at)
			edge(next-1, to-1)
			at = next
		}
	}
}

// randomlyWired returns a network of the small regime of Xie et al., "Exploring
// Randomly Wired Neural Networks for Image Recognition" (ICCV 2019): two
// convolutions, then three stages, each a graph of Watts and Strogatz with 32
// nodes, 4 neighbours and a probability of 0.75. A node sums up what it reads, in
// place where it can, and has a depthwise and a pointwise convolution.
func randomlyWired(r *rand.Rand) *Problem {
	const nodes, neighbours, rewired = 32, 4, 0.75
	p := &Problem{}
	step := func(bytes int64, inPlace bool, reads ...int) int {
		v := Value{Bytes: bytes, Writer: p.Steps}
		for _, x := range reads {
			p.Values[x].Readers = append(p.Values[x].Readers, p.Steps)
			if inPlace {
				v.Over = append(v.Over, x)
			}
		}
		p.Values = append(p.Values, v)
		p.Steps++
		return p.Steps - 1
	}
	channels, side := int64(78), int64(56)
	bytes := func() int64 { return channels * side * side * 4 }
	last := step(bytes(), false, step(2*bytes(), false))
	for range 3 {
		var edges [nodes][nodes]bool // from the first to the second, which is greater
		edge := func(a, b int) *bool { return &edges[min(a, b)][max(a, b)] }
		for a := range nodes {
			for d := 1; d <= neighbours/2; d++ {
				*edge(a, (a+d)%nodes) = true
			}
		}
		for d := 1; d <= neighbours/2; d++ {
			for a := range nodes {
				if b := r.IntN(nodes); r.Float64() < rewired && b != a && !*edge(a, b) {
					*edge(a, (a+d)%nodes), *edge(a, b) = false, true
				}
			}
		}
		in := bytes()
		side /= 2
		var out, ends []int
		for b := range nodes {
			var reads []int
			for a := range b {
				if edges[a][b] {
					reads = append(reads, out[a])
				}
			}
			size := bytes()
			if reads == nil {
				reads, size = []int{last}, in
			}
			sum := step(size, true, reads...)
			out = append(out, step(bytes(), false, step(bytes(), false, sum)))
		}
		for a := range nodes {
			if edges[a] == [nodes]bool{} {
				ends = append(ends, out[a])
			}
		}
		last = step(bytes(), true, ends...)
		channels *= 2
	}
	p.Values[last].Kept = true
	return p
}

var kinds = []string{"sparse", "local", "layered", "tree", "series-parallel", "scattered"}

func smallSizes(r *rand.Rand) int64 { return r.Int64N(6) }
func largeSizes(r *rand.Rand) int64 { return r.Int64N(1 << 20) }

// decorate adds what makes a problem more than a graph: values in place of
// others, kept ones, ones there before, several outputs, ones touched by more
// steps than their writer and readers, and further precedence.
func decorate(r *rand.Rand, p *Problem) {
	for range r.IntN(3) {
		w := r.IntN(p.Steps)
		v := Value{Bytes: smallSizes(r), Writer: w}
		for s := w + 1; s < p.Steps; s++ {
			if r.IntN(4) == 0 {
				v.Readers = append(v.Readers, s)
			}
		}
		p.Values = append(p.Values, v)
	}
	for i := range p.Values {
		v := &p.Values[i]
		v.Kept = r.IntN(8) == 0
		if r.IntN(10) == 0 {
			v.Writer = -1
		}
		for r.IntN(6) == 0 {
			v.Also = append(v.Also, r.IntN(p.Steps))
		}
	}
	for i := range p.Values {
		v := &p.Values[i]
		for o := range p.Values {
			if o != i && slices.Contains(p.Values[o].Readers, v.Writer) && r.IntN(3) > 0 {
				v.Over = append(v.Over, o)
				if r.IntN(2) == 0 {
					v.Bytes = p.Values[o].Bytes
				}
			}
		}
	}
	p.After = make([][]int, p.Steps)
	for range r.IntN(3) {
		if a, b := r.IntN(p.Steps), r.IntN(p.Steps); a < b {
			p.After[b] = append(p.After[b], a)
		}
	}
}

// renumber returns p with step i called name[i], and a seed that is the same
// order under the new names.
func renumber(p *Problem, name []int) *Problem {
	all := func(steps []int) []int {
		var out []int
		for _, s := range steps {
			out = append(out, name[s])
		}
		return out
	}
	q := &Problem{Steps: p.Steps, Seed: all(p.seed()), After: make([][]int, p.Steps)}
	for s, list := range p.After {
		q.After[name[s]] = all(list)
	}
	for _, v := range p.Values {
		v.Readers, v.Also = all(v.Readers), all(v.Also)
		if v.Writer >= 0 {
			v.Writer = name[v.Writer]
		}
		q.Values = append(q.Values, v)
	}
	return q
}

// each runs f on random problems of every kind, with their seeds in the name.
func each(t *testing.T, count int, steps func(*rand.Rand) int, f func(t *testing.T, r *rand.Rand, p *Problem)) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(count) {
				r := rand.New(rand.NewPCG(seed, 1))
				p := random(r, kind, steps(r), smallSizes)
				if seed%4 != 0 {
					decorate(r, p)
				}
				if seed%2 == 0 {
					p = renumber(p, r.Perm(p.Steps))
				}
				f(t, r, p)
				if t.Failed() {
					t.Fatalf("seed %d: %+v", seed, p)
				}
			}
		})
	}
}
