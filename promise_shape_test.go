package berth_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth"
)

func testWhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, typ := range allTypes {
		for _, dims := range [][3][]int{{{2, 3}, {2, 3}, {2, 3}}, {{3}, {2, 1}, {}}, {{2, 1}, {1, 3}, {4, 1, 1}}, {{0}, {1}, {2, 1}}} {
			c, a, b := random(rng, 0, 1, dims[0]...), random(rng, 0, 1, dims[1]...), random(rng, 0, 100, dims[2]...).as(typ)
			want := arrayOf(broadcastDims(broadcastDims(dims[0], dims[1]), dims[2]), func(i []int) float64 {
				if c.atBroadcast(i) != 0 {
					return a.atBroadcast(i)
				}
				return b.atBroadcast(i)
			})
			expect(t, label(typ, dims), c.promise(berth.Bool).Where(a.promise(typ), b.promise(typ)), typ, want)
		}
	}
	x := ramp(2).Promise()
	wantError(t, "condition", x.Where(x, x).Err(), "int32[2]")
	wantError(t, "types", x.Less(x).Where(x, x.Cast(berth.Int64)).Err(), "int32[2]", "int64[2]")
}

func testCast(t *testing.T) {
	x := list([]float64{0, 1, 2.75, 100.5, -1, -2.75, 300}, 7)
	for _, from := range allTypes {
		for _, to := range allTypes {
			in := x.as(from)
			switch {
			case from == berth.Uint32 || from == berth.Uint64:
				in = list([]float64{0, 1, 2, 100, 65535}, 5)
			case from.IsLowPrecision():
				in = list([]float64{1, 2, 0.5, 4}, 4).as(from)
			}
			want := arrayOf(in.dims, func(i []int) float64 {
				if v := in.at(i...); to == berth.Bool || to.Wide().IsFloat() {
					return v
				} else {
					return math.Trunc(v)
				}
			})
			expect(t, label(from, " to ", to), in.promise(from).Cast(to), to, want)
			expect(t, label(from, " to ", to), must(berth.Zeros(from, 0, 2)).Promise().Cast(to), to, list(nil, 0, 2))
		}
	}
	p := ramp(2).Promise()
	if p.Cast(berth.Int32) == nil || p.Cast(berth.Int32).Err() != nil {
		t.Error("a cast to the same type is broken")
	}
	wantError(t, "type", p.Cast(0).Err(), "int32[2]", "invalid")
}

func testReshape(t *testing.T) {
	x := ramp(2, 3, 4).Promise()
	a := read(ramp(2, 3, 4))
	for _, c := range []struct {
		p    *berth.Promise
		dims []int
	}{
		{x.Reshape(4, 6), []int{4, 6}}, {x.Reshape(-1), []int{24}}, {x.Reshape(2, -1, 2), []int{2, 6, 2}}, {x.Reshape(1, 24, 1), []int{1, 24, 1}},
		{x.Flatten(), []int{24}}, {x.Unsqueeze(0), []int{1, 2, 3, 4}}, {x.Unsqueeze(-1), []int{2, 3, 4, 1}}, {x.Unsqueeze(1), []int{2, 1, 3, 4}},
		{x.Unsqueeze(1).Squeeze(1), []int{2, 3, 4}}, {x.Unsqueeze(3).Squeeze(-1), []int{2, 3, 4}}, {x.Unsqueeze(-2).Squeeze(2), []int{2, 3, 4}},
	} {
		expect(t, label(c.dims), c.p, berth.Int32, array{c.dims, a.data})
	}
	one := berth.Scalar[int32](5).Promise()
	expect(t, "scalar", one.Reshape(1, 1), berth.Int32, list([]float64{5}, 1, 1))
	expect(t, "to scalar", one.Reshape(1, 1).Reshape(), berth.Int32, list([]float64{5}))
	expect(t, "squeezed to scalar", one.Unsqueeze(0).Squeeze(0), berth.Int32, list([]float64{5}))
	expect(t, "flat scalar", one.Flatten(), berth.Int32, list([]float64{5}, 1))
	expect(t, "nothing", ramp(2, 0).Promise().Reshape(0, 7), berth.Int32, list(nil, 0, 7))
	expect(t, "flat nothing", ramp(2, 0).Promise().Flatten(), berth.Int32, list(nil, 0))
	expect(t, "transposed", x.Transpose().Reshape(2, 12), berth.Int32,
		arrayOf([]int{2, 12}, func(i []int) float64 { return a.at(i[0], i[1]%3, i[1]/3) }))

	wantError(t, "elements", x.Reshape(5).Err(), "[5]", "[2 3 4]")
	wantError(t, "-1", x.Reshape(-1, 5).Err(), "[-1 5]", "[2 3 4]")
	wantError(t, "-1 twice", x.Reshape(-1, -1).Err(), "[-1 -1]")
	wantError(t, "-1 of nothing", ramp(0).Promise().Reshape(0, -1).Err(), "[0 -1]")
	wantError(t, "squeeze", x.Squeeze(1).Err(), "[2 3 4]", "axis 1", "3")
	wantError(t, "squeeze axis", x.Squeeze(3).Err(), "axis 3")
	wantError(t, "unsqueeze axis", x.Unsqueeze(4).Err(), "axis 4")
}

func testAxes(t *testing.T) {
	x := ramp(2, 3, 4).Promise()
	a := read(ramp(2, 3, 4))
	expect(t, "transpose", x.Transpose(), berth.Int32, arrayOf([]int{2, 4, 3}, func(i []int) float64 { return a.at(i[0], i[2], i[1]) }))
	expect(t, "permute", x.Permute(1, 2, 0), berth.Int32, arrayOf([]int{3, 4, 2}, func(i []int) float64 { return a.at(i[2], i[0], i[1]) }))
	expect(t, "permute of nothing", berth.Scalar[int32](7).Promise().Permute(), berth.Int32, list([]float64{7}))
	expect(t, "index", x.Index(-2, -1), berth.Int32, arrayOf([]int{2, 4}, func(i []int) float64 { return a.at(i[0], 2, i[1]) }))
	expect(t, "broadcast", x.Index(0, 1).BroadcastTo(5, 3, 4), berth.Int32, arrayOf([]int{5, 3, 4}, func(i []int) float64 { return a.at(1, i[1], i[2]) }))
	expect(t, "broadcast scalar", berth.Scalar[int32](7).Promise().BroadcastTo(2, 0), berth.Int32, list(nil, 2, 0))
	for _, c := range [][3]int{{0, 4, 1}, {1, 3, 1}, {-3, -1, 1}, {0, 100, 3}, {3, -100, -1}, {-1, 0, -2}, {2, 2, 1}, {3, 1, 1}, {100, -100, -3}} {
		// Which elements these are, by stepping through a Python-like loop.
		var picked []int
		bound := func(v, low, high int) int {
			if v < 0 {
				v += 4
			}
			return max(low, min(high, v))
		}
		if c[2] > 0 {
			for i := bound(c[0], 0, 4); i < bound(c[1], 0, 4); i += c[2] {
				picked = append(picked, i)
			}
		} else {
			for i := bound(c[0], -1, 3); i > bound(c[1], -1, 3); i += c[2] {
				picked = append(picked, i)
			}
		}
		expect(t, label("slice ", c), x.Slice(2, c[0], c[1], c[2]), berth.Int32,
			arrayOf([]int{2, 3, len(picked)}, func(i []int) float64 { return a.at(i[0], i[1], picked[i[2]]) }))
	}
	wantError(t, "transpose", x.Flatten().Transpose().Err(), "int32[24]", "2 axes")
	wantError(t, "permute", x.Permute(0, 1).Err(), "[0 1]", "3")
	wantError(t, "permute", x.Permute(0, 1, 1).Err(), "[0 1 1]")
	wantError(t, "index", x.Index(0, 2).Err(), "index 2", "int32[2 3 4]")
	wantError(t, "index", x.Index(3, 0).Err(), "axis 3", "int32[2 3 4]")
	wantError(t, "broadcast", x.BroadcastTo(2, 3, 5).Err(), "[2 3 4]", "[2 3 5]")
	wantError(t, "broadcast", x.BroadcastTo(4).Err(), "[2 3 4]", "[4]")
	wantError(t, "slice", x.Slice(0, 0, 1, 0).Err(), "int32[2 3 4]", "step 0")
	wantError(t, "slice", x.Slice(-4, 0, 1, 1).Err(), "int32[2 3 4]", "axis -4")
}

// TestConcatAndStack joins promises of every type along every axis.
func TestConcatAndStack(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for _, typ := range allTypes {
		for axis := range 3 {
			parts := []array{}
			var promises, alike []*berth.Promise
			total := 0
			for _, d := range []int{2, 0, 1, 3} {
				x := random(rng, 0, 9, dimsWith([]int{2, 3, 4}, axis, d)...).as(typ)
				parts = append(parts, x)
				promises = append(promises, x.promise(typ))
				total += d
			}
			want := arrayOf(dimsWith([]int{2, 3, 4}, axis, total), func(i []int) float64 {
				at := i[axis]
				for _, x := range parts {
					if at < x.dims[axis] {
						return x.at(with(i, axis, at)...)
					}
					at -= x.dims[axis]
				}
				panic("behind the last part")
			})
			expect(t, label("concat ", typ, axis), berth.Concat(axis, promises...), typ, want)
			expect(t, label("concat ", typ, axis), berth.Concat(axis-3, promises...), typ, want)
			for range 3 {
				alike = append(alike, relaid(parts[3], typ))
			}
			expect(t, label("stack ", typ, axis), berth.Stack(axis, alike...), typ,
				arrayOf(slices.Insert(slices.Clone(parts[3].dims), axis, 3), func(i []int) float64 { return parts[3].at(without(i, axis)...) }))
		}
	}
	one := berth.Scalar(1.0).Promise()
	expect(t, "stacked scalars", berth.Stack(0, one, one.AddScalar(1)), berth.Float64, list([]float64{1, 2}, 2))
	expect(t, "one alone", berth.Concat(0, ramp(2).Promise()), berth.Int32, list([]float64{0, 1}, 2))
	x := ramp(2, 3).Promise()
	wantError(t, "concat of nothing", berth.Concat(0).Err(), "nothing", "promise_shape_test.go:")
	wantError(t, "stack of nothing", berth.Stack(0).Err(), "nothing", "promise_shape_test.go:")
	wantError(t, "concat nil", berth.Concat(0, x, nil).Err(), "nil", "promise_shape_test.go:")
	wantError(t, "stack nil", berth.Stack(0, x, nil).Err(), "nil", "promise_shape_test.go:")
	wantError(t, "shapes", berth.Concat(0, x, x.Transpose()).Err(), "[2 3]", "[3 2]")
	wantError(t, "types", berth.Concat(0, x, x.Cast(berth.Int64)).Err(), "int32[2 3]", "int64[2 3]")
	wantError(t, "axis", berth.Concat(2, x, x).Err(), "axis 2")
	wantError(t, "scalars", berth.Concat(0, one, one).Err(), "axis 0")
	wantError(t, "stack of shapes", berth.Stack(0, x, x.Transpose()).Err(), "[1 2 3]", "[1 3 2]")
}

func testSplit(t *testing.T) {
	x := ramp(2, 6).Promise()
	a := read(ramp(2, 6))
	parts := x.Split(1, 1, 0, 3, 2)
	start := 0
	for i, n := range []int{1, 0, 3, 2} {
		from := start
		expect(t, label("part ", i), parts[i], berth.Int32, arrayOf([]int{2, n}, func(i []int) float64 { return a.at(i[0], from+i[1]) }))
		start += n
	}
	expect(t, "back together", berth.Concat(-1, parts...), berth.Int32, a)
	if n := len(x.Split(0)); n != 0 {
		t.Errorf("%d parts of no sizes", n)
	}
	for _, sizes := range [][]int{{1, 2}, {7}, {-1, 7}, {6, 1}} {
		for _, p := range x.Split(1, sizes...) {
			wantError(t, label(sizes), p.Err(), "int32[2 6]", label(sizes), "promise_shape_test.go:")
		}
	}
	wantError(t, "axis", x.Split(2, 1)[0].Err(), "axis 2", "int32[2 6]")
}

func testGather(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 3))
	for _, typ := range allTypes {
		x := random(rng, 0, 100, 3, 4, 2).as(typ)
		for _, index := range []berth.DType{berth.Int32, berth.Int64} {
			for _, dims := range [][]int{{}, {5}, {2, 3}, {0}} {
				for axis := range 3 {
					at := random(rng, -x.dims[axis], x.dims[axis]-1, dims...)
					outDims := slices.Concat(x.dims[:axis], dims, x.dims[axis+1:])
					want := arrayOf(outDims, func(i []int) float64 {
						n := int(at.at(i[axis : axis+len(dims)]...))
						if n < 0 {
							n += x.dims[axis]
						}
						return x.at(slices.Concat(i[:axis], []int{n}, i[axis+len(dims):])...)
					})
					expect(t, label(typ, index, dims, axis), x.promise(typ).Gather(axis, at.promise(index)), typ, want)
				}
			}
		}
	}
	x := ramp(2, 3).Promise()
	for _, i := range []float64{3, -4} {
		p := x.Gather(1, list([]float64{0, i}, 2).promise(berth.Int64))
		_, err := p.Materialize(t.Context())
		wantError(t, "out of range", err, "gather", label(int(i)), "3")
	}
	wantError(t, "index type", x.Gather(0, x.Cast(berth.Float32)).Err(), "float32[2 3]")
	wantError(t, "axis", x.Gather(2, x).Err(), "axis 2")
}

func testGatherElements(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	for _, typ := range allTypes {
		x := random(rng, 0, 100, 3, 4).as(typ)
		for axis := range 2 {
			at := random(rng, -x.dims[axis], x.dims[axis]-1, dimsWith(x.dims, axis, 5)...)
			want := arrayOf(at.dims, func(i []int) float64 {
				n := int(at.at(i...))
				if n < 0 {
					n += x.dims[axis]
				}
				return x.at(with(i, axis, n)...)
			})
			expect(t, label(typ, axis), x.promise(typ).GatherElements(axis, at.promise(berth.Int64)), typ, want)
		}
	}
	x := ramp(2, 3).Promise()
	_, err := x.GatherElements(1, list([]float64{5}, 1, 1).promise(berth.Int64)).Materialize(t.Context())
	wantError(t, "out of range", err, "gather_elements", "5")
}

func testScatterElements(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	reductions := map[berth.Reduction]func(old, new float64) float64{
		berth.ScatterReplace: func(_, v float64) float64 { return v },
		berth.ScatterAdd:     func(o, v float64) float64 { return o + v },
		berth.ScatterMul:     func(o, v float64) float64 { return o * v },
		berth.ScatterMax:     math.Max,
		berth.ScatterMin:     math.Min,
	}
	for _, typ := range numbers {
		for r, combine := range reductions {
			for axis := range 2 {
				x := random(rng, 0, 5, 3, 4).as(typ)
				// Every index once along the axis, so that replacing is defined.
				dims := dimsWith([]int{2, 3}, axis, x.dims[axis]-1)
				order := rng.Perm(x.dims[axis])
				at := arrayOf(dims, func(i []int) float64 { return float64(order[i[axis]] - x.dims[axis]*rng.IntN(2)) })
				updates := random(rng, 0, 5, dims...).as(typ)
				want := array{x.dims, slices.Clone(x.data)}
				each(dims, func(i []int) {
					n := int(at.at(i...))
					if n < 0 {
						n += x.dims[axis]
					}
					j := with(i, axis, n)
					want.data[j[0]*4+j[1]] = combine(x.at(j...), updates.at(i...))
				})
				expect(t, label(typ, r, axis), x.promise(typ).ScatterElements(axis, at.promise(berth.Int64), updates.promise(typ), r), typ, want)
			}
		}
	}
	x := ramp(2, 3).Promise()
	_, err := x.ScatterElements(0, list([]float64{7}, 1, 1).promise(berth.Int64), x.Slice(0, 0, 1, 1).Slice(1, 0, 1, 1), berth.ScatterAdd).Materialize(t.Context())
	wantError(t, "out of range", err, "scatter_elements", "7")
	wantError(t, "shapes", x.ScatterElements(0, list([]float64{0}, 1, 1).promise(berth.Int64), x, berth.ScatterAdd).Err(), "[1 1]", "[2 3]")
}

func testPad(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	modes := map[berth.PadMode]func(i, n int) int{ // the element at i, or -1 for zero
		berth.PadZero:    func(i, n int) int { return -1 },
		berth.PadEdge:    func(i, n int) int { return max(0, min(n-1, i)) },
		berth.PadReflect: func(i, n int) int { i = ((i % (2*n - 2)) + 2*n - 2) % (2*n - 2); return min(i, 2*n-2-i) },
		berth.PadWrap:    func(i, n int) int { return (i%n + n) % n },
	}
	for _, typ := range withZero {
		x := random(rng, 1, 9, 3, 4).as(typ)
		for mode, from := range modes {
			for _, pads := range [][]int{{1, 2, 2, 1}, {0, 0, 0, 3}, {0, 0, 0, 0}, {-1, 0, 1, -2}} {
				dims := []int{3 + pads[0] + pads[2], 4 + pads[1] + pads[3]}
				want := arrayOf(dims, func(i []int) float64 {
					at := make([]int, 2)
					for axis := range at {
						at[axis] = i[axis] - pads[axis]
						if at[axis] < 0 || at[axis] >= x.dims[axis] {
							at[axis] = from(at[axis], x.dims[axis])
						}
						if at[axis] < 0 {
							return 0
						}
					}
					return x.at(at...)
				})
				if slices.Min(pads) < 0 && mode != berth.PadZero {
					continue // removed elements may or may not be mirrored
				}
				expect(t, label(typ, mode, pads), x.promise(typ).Pad(mode, pads...), typ, want)
			}
		}
	}
	x := ramp(2, 3).Promise()
	wantError(t, "count", x.Pad(berth.PadZero, 1, 1).Err(), "2 pads", "int32[2 3]")
	wantError(t, "negative", x.Pad(berth.PadZero, -2, 0, -1, 0).Err(), "-2 and -1")
	expect(t, "nothing", ramp(0).Promise().Pad(berth.PadZero, 1, 1), berth.Int32, list([]float64{0, 0}, 2))
}

func testTile(t *testing.T) {
	for _, typ := range allTypes {
		x := list([]float64{0, 1, 2, 3, 4, 5}, 2, 3).as(typ)
		for _, repeats := range [][]int{{1, 1}, {2, 1}, {1, 3}, {2, 2}, {0, 2}} {
			want := arrayOf([]int{2 * repeats[0], 3 * repeats[1]}, func(i []int) float64 { return x.at(i[0]%2, i[1]%3) })
			expect(t, label(typ, repeats), x.promise(typ).Tile(repeats...), typ, want)
		}
	}
	wantError(t, "count", ramp(2, 3).Promise().Tile(2).Err(), "1 repeats", "int32[2 3]")
	wantError(t, "negative", ramp(2).Promise().Tile(-1).Err(), "-1")
}

func testTri(t *testing.T) {
	for _, typ := range withZero {
		x := arrayOf([]int{2, 3, 4}, func([]int) float64 { return 1 }).as(typ)
		for k := -4; k <= 4; k++ {
			expect(t, label("tril ", typ, k), x.promise(typ).Tril(k), typ, arrayOf(x.dims, func(i []int) float64 { return truth(i[2]-i[1] <= k) }))
			expect(t, label("triu ", typ, k), x.promise(typ).Triu(k), typ, arrayOf(x.dims, func(i []int) float64 { return truth(i[2]-i[1] >= k) }))
		}
	}
	wantError(t, "rank", ramp(2).Promise().Tril(0).Err(), "int32[2]")
}
