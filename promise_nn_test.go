package berth_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth"
)

func testMatMul(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	types := []berth.DType{berth.Float32, berth.Float64, berth.Int32, berth.Int64, berth.Float16, berth.BFloat16}
	for _, typ := range types {
		for _, dims := range [][2][]int{
			{{2, 3}, {3, 4}}, {{3}, {3}}, {{3}, {3, 4}}, {{2, 3}, {3}}, {{1, 1}, {1, 1}},
			{{5, 2, 3}, {3, 4}}, {{2, 3}, {5, 3, 4}}, {{5, 1, 2, 3}, {6, 3, 4}}, {{4, 2, 3}, {3}}, {{3}, {4, 3, 2}},
			{{0, 3}, {3, 4}}, {{2, 3}, {3, 0}}, {{2, 0}, {0, 4}}, {{0, 2, 3}, {3, 4}}, {{37, 19}, {19, 41}},
		} {
			x, y := random(rng, -2, 2, dims[0]...), random(rng, -2, 2, dims[1]...)
			want := matmul(x, y)
			expect(t, label(typ, dims), x.promise(typ).MatMul(y.promise(typ)), typ, want)
			expect(t, label("relaid ", typ, dims), relaid(x, typ).MatMul(relaid(y, typ)), typ, want)
		}
	}
	x, y := ramp(2, 3).Promise(), ramp(2, 3).Promise()
	wantError(t, "shapes", x.MatMul(y).Err(), "matmul", "int32[2 3] and int32[2 3]", "promise_nn_test.go:")
	wantError(t, "types", x.MatMul(y.Transpose().Cast(berth.Float32)).Err(), "int32", "float32")
	wantError(t, "batches", ramp(2, 2, 3).Promise().MatMul(ramp(3, 3, 2).Promise()).Err(), "[2 2 3]", "[3 3 2]")
	wantError(t, "scalar", x.MatMul(berth.Scalar[int32](1).Promise()).Err(), "int32[2 3]", "int32[]")
}

// matmul multiplies by NumPy's rules.
func matmul(x, y array) array {
	row, column := len(x.dims) == 1, len(y.dims) == 1
	if row {
		x.dims = []int{1, x.dims[0]}
	}
	if column {
		y.dims = []int{y.dims[0], 1}
	}
	bx, by := x.dims[:len(x.dims)-2], y.dims[:len(y.dims)-2]
	batch := broadcastDims(bx, by)
	m, k, n := x.dims[len(bx)], x.dims[len(bx)+1], y.dims[len(by)+1]
	pick := func(a array, batch, index []int, own []int) float64 {
		at := array{own, make([]float64, 0)}
		i := append([]int{}, batch[len(batch)-len(own):]...)
		for axis, d := range at.dims {
			if d == 1 {
				i[axis] = 0
			}
		}
		return a.at(append(i, index...)...)
	}
	out := arrayOf(append(append([]int{}, batch...), m, n), func(i []int) float64 {
		b, r, c := i[:len(batch)], i[len(batch)], i[len(batch)+1]
		s := 0.0
		for j := range k {
			s += pick(x, b, []int{r, j}, bx) * pick(y, b, []int{j, c}, by)
		}
		return s
	})
	if column {
		out.dims = out.dims[:len(out.dims)-1]
	}
	if row {
		at := len(batch)
		out.dims = without(out.dims, at)
	}
	return out
}

func testSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 2))
	for _, typ := range floats {
		for _, dims := range [][]int{{2, 5, 3}, {1, 40, 1}, {2, 1, 2}, {2, 0, 3}} {
			x := uniform(rng, -3, 3, dims...).as(typ)
			for axis := range 3 {
				soft := arrayOf(dims, func(i []int) float64 {
					return math.Exp(x.at(i...)) / sum(mapped(math.Exp, lineOf(x, i, axis)))
				})
				expect(t, label("softmax ", typ, dims, axis), x.promise(typ).Softmax(axis), typ, soft)
				expect(t, label("relaid softmax ", typ, dims, axis), relaid(x, typ).Softmax(axis-3), typ, soft)
				expect(t, label("log softmax ", typ, dims, axis), x.promise(typ).LogSoftmax(axis), typ, array{dims, mapped(math.Log, soft.data)})
			}
		}
	}
	// Large logits do not overflow.
	x := list([]float64{1000, 1001, -1000}, 3)
	e := math.Exp(1)
	expect(t, "large", x.promise(berth.Float32).Softmax(0), berth.Float32, list([]float64{1 / (1 + e), e / (1 + e), 0}, 3))
	expect(t, "large", x.promise(berth.Float64).LogSoftmax(0), berth.Float64, list([]float64{-math.Log1p(e), 1 - math.Log1p(e), -2000 - math.Log1p(e)}, 3))
	wantError(t, "type", ramp(2).Promise().Softmax(0).Err(), "int32[2]")
	wantError(t, "axis", x.promise(berth.Float32).Softmax(1).Err(), "axis 1")
	wantError(t, "scalar", berth.Scalar(1.0).Promise().LogSoftmax(0).Err(), "axis 0")
}

func testLayerNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	const epsilon = 1e-5
	for _, typ := range floats {
		x := uniform(rng, -2, 2, 2, 3, 8).as(typ)
		for axis := range 3 {
			scale, bias := uniform(rng, 0.5, 2, x.dims[axis:]...).as(typ), uniform(rng, -1, 1, x.dims[axis:]...).as(typ)
			norm := func(bias *array) array {
				return arrayOf(x.dims, func(i []int) float64 {
					var group []float64
					each(x.dims[axis:], func(j []int) { group = append(group, x.at(append(append([]int{}, i[:axis]...), j...)...)) })
					m := mean(group)
					v := mean(mapped(func(v float64) float64 { return (v - m) * (v - m) }, group))
					out := (x.at(i...) - m) / math.Sqrt(v+epsilon) * scale.at(i[axis:]...)
					if bias != nil {
						out += bias.at(i[axis:]...)
					}
					return out
				})
			}
			expect(t, label(typ, axis), x.promise(typ).LayerNorm(axis, scale.promise(typ), bias.promise(typ), epsilon), typ, norm(&bias))
			expect(t, label("no bias ", typ, axis), relaid(x, typ).LayerNorm(axis-3, scale.promise(typ), nil, epsilon), typ, norm(nil))
		}
	}
	x := list([]float64{1, 2, 3, 4, 5, 6}, 2, 3).promise(berth.Float32)
	wantError(t, "scale", x.LayerNorm(1, x.Index(1, 0), nil, epsilon).Err(), "[2]", "[2 3]")
	wantError(t, "nil", x.LayerNorm(1, nil, nil, epsilon).Err(), "nil")
}

func testBatchNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 4))
	const epsilon = 1e-3
	for _, typ := range floats {
		for _, dims := range [][]int{{2, 3}, {2, 3, 4}, {2, 3, 2, 5}, {0, 3, 2}} {
			x := uniform(rng, -2, 2, dims...).as(typ)
			scale, bias := uniform(rng, 0.5, 2, 3).as(typ), uniform(rng, -1, 1, 3).as(typ)
			m, v := uniform(rng, -1, 1, 3).as(typ), uniform(rng, 0.5, 2, 3).as(typ)
			want := arrayOf(dims, func(i []int) float64 {
				c := i[1]
				return (x.at(i...)-m.at(c))/math.Sqrt(v.at(c)+epsilon)*scale.at(c) + bias.at(c)
			})
			expect(t, label(typ, dims), x.promise(typ).BatchNorm(scale.promise(typ), bias.promise(typ), m.promise(typ), v.promise(typ), epsilon), typ, want)
		}
	}
	x := list([]float64{1, 2, 3, 4, 5, 6}, 2, 3).promise(berth.Float32)
	s := x.Index(1, 0)
	wantError(t, "channels", x.BatchNorm(s, s, s, s, epsilon).Err(), "[2]", "[2 3]")
}

// windowed moves a window over the spatial axes of x, from the third on, and
// calls f with the index of each element in it, or nil for padding, and the
// index within the window.
func windowed(x array, out, window []int, w berth.Window, f func(at, in []int)) {
	each(window, func(k []int) {
		at := make([]int, len(window))
		for a := range window {
			stride, dilation, pad := 1, 1, 0
			if w.Strides != nil {
				stride = w.Strides[a]
			}
			if w.Dilations != nil {
				dilation = w.Dilations[a]
			}
			if w.Pads != nil {
				pad = w.Pads[a]
			}
			at[a] = out[a]*stride + k[a]*dilation - pad
			if at[a] < 0 || at[a] >= x.dims[2+a] {
				f(nil, k)
				return
			}
		}
		f(at, k)
	})
}

// slid returns how many places a window has along each spatial axis.
func slid(x array, window []int, w berth.Window, ceil bool) []int {
	out := make([]int, len(window))
	for a, k := range window {
		stride, dilation, pads := 1, 1, 0
		if w.Strides != nil {
			stride = w.Strides[a]
		}
		if w.Dilations != nil {
			dilation = w.Dilations[a]
		}
		if w.Pads != nil {
			pads = w.Pads[a] + w.Pads[a+len(window)]
		}
		room := x.dims[2+a] + pads - dilation*(k-1) - 1
		if ceil {
			room += stride - 1
		}
		out[a] = room/stride + 1
	}
	return out
}

func testConv(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 5))
	for _, c := range []struct {
		x, weights []int
		opt        *berth.ConvOptions
	}{
		{[]int{2, 3, 8}, []int{4, 3, 3}, nil},
		{[]int{2, 3, 8, 7}, []int{4, 3, 3, 2}, nil},
		{[]int{1, 3, 8, 7}, []int{5, 3, 1, 1}, nil},
		{[]int{2, 4, 8, 7}, []int{6, 2, 3, 3}, &berth.ConvOptions{Groups: 2}},
		{[]int{1, 4, 9, 7}, []int{4, 1, 3, 3}, &berth.ConvOptions{Groups: 4, Window: berth.Window{Pads: []int{1, 1, 1, 1}, Strides: []int{2, 2}}}},
		{[]int{1, 2, 9, 9}, []int{3, 2, 3, 2}, &berth.ConvOptions{Window: berth.Window{Pads: []int{2, 0, 1, 3}, Dilations: []int{2, 3}, Strides: []int{1, 2}}}},
		{[]int{2, 2, 12}, []int{2, 1, 4}, &berth.ConvOptions{Groups: 2, Window: berth.Window{Pads: []int{3, 0}, Strides: []int{3}}}},
		{[]int{1, 2, 4, 5, 6}, []int{3, 2, 2, 2, 3}, &berth.ConvOptions{Window: berth.Window{Pads: []int{1, 0, 0, 0, 1, 1}}}},
		{[]int{0, 3, 8, 7}, []int{4, 3, 3, 2}, nil},
	} {
		opt := c.opt
		if opt == nil {
			opt = &berth.ConvOptions{}
		}
		for _, typ := range []berth.DType{berth.Float32, berth.Float64} {
			x, w, b := uniform(rng, -1, 1, c.x...).as(typ), uniform(rng, -1, 1, c.weights...).as(typ), uniform(rng, -1, 1, c.weights[0]).as(typ)
			groups := max(opt.Groups, 1)
			perGroup := c.weights[0] / groups
			conv := func(bias bool) array {
				return arrayOf(append([]int{c.x[0], c.weights[0]}, slid(x, c.weights[2:], opt.Window, false)...), func(i []int) float64 {
					s := 0.0
					for ch := range c.weights[1] {
						windowed(x, i[2:], c.weights[2:], opt.Window, func(at, in []int) {
							if at != nil {
								from := i[1]/perGroup*c.weights[1] + ch
								s += x.at(append([]int{i[0], from}, at...)...) * w.at(append([]int{i[1], ch}, in...)...)
							}
						})
					}
					if bias {
						s += b.at(i[1])
					}
					return s
				})
			}
			expect(t, label(typ, c.x, c.weights), x.promise(typ).Conv(w.promise(typ), b.promise(typ), c.opt), typ, conv(true))
			expect(t, label("no bias ", typ, c.x, c.weights), relaid(x, typ).Conv(relaid(w, typ), nil, c.opt), typ, conv(false))
		}
	}
	x, w := must(berth.Zeros(berth.Float32, 1, 3, 4, 4)).Promise(), must(berth.Zeros(berth.Float32, 2, 3, 3, 3)).Promise()
	wantError(t, "channels", x.Slice(1, 0, 2, 1).Conv(w, nil, nil).Err(), "[1 2 4 4]", "[2 3 3 3]")
	wantError(t, "groups", x.Conv(w, nil, &berth.ConvOptions{Groups: 2}).Err(), "[1 3 4 4]", "2")
	wantError(t, "window", x.Slice(2, 0, 2, 1).Conv(w, nil, nil).Err(), "[1 3 2 4]")
	wantError(t, "bias", x.Conv(w, x, nil).Err(), "[1 3 4 4]")
	wantError(t, "pads", x.Conv(w, nil, &berth.ConvOptions{Window: berth.Window{Pads: []int{1}}}).Err(), "[1]")
	wantError(t, "strides", x.Conv(w, nil, &berth.ConvOptions{Window: berth.Window{Strides: []int{0, 1}}}).Err(), "0")

	// The lists are the caller's.
	strides, pads := []int{2, 2}, []int{1, 1, 1, 1}
	p := x.Conv(w, nil, &berth.ConvOptions{Window: berth.Window{Strides: strides, Pads: pads}})
	strides[0], pads[0] = 100, 100
	if got := bits(t, p).Shape(); label(got) != "[1 2 2 2]" {
		t.Errorf("the promise followed a changed list of strides: %v", got)
	}
}

func testPools(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, c := range []struct {
		x, window []int
		opt       *berth.PoolOptions
	}{
		{[]int{2, 3, 8}, []int{3}, nil},
		{[]int{2, 3, 8, 7}, []int{2, 3}, nil},
		{[]int{1, 2, 8, 7}, []int{2, 2}, &berth.PoolOptions{Window: berth.Window{Strides: []int{2, 2}}}},
		{[]int{1, 2, 8, 7}, []int{3, 3}, &berth.PoolOptions{Window: berth.Window{Strides: []int{2, 2}, Pads: []int{1, 0, 0, 1}}}},
		{[]int{1, 2, 8, 7}, []int{3, 3}, &berth.PoolOptions{Window: berth.Window{Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}}, CountPadding: true}},
		{[]int{1, 2, 8, 8}, []int{3, 2}, &berth.PoolOptions{Window: berth.Window{Dilations: []int{2, 3}}}},
		{[]int{1, 2, 7, 8}, []int{3, 2}, &berth.PoolOptions{Window: berth.Window{Strides: []int{2, 3}}, CeilMode: true}},
		{[]int{1, 1, 4, 4, 4}, []int{2, 2, 2}, &berth.PoolOptions{Window: berth.Window{Strides: []int{2, 1, 2}}}},
		{[]int{0, 3, 8}, []int{3}, nil},
	} {
		opt := c.opt
		if opt == nil {
			opt = &berth.PoolOptions{}
		}
		for _, typ := range []berth.DType{berth.Float32, berth.Float64} {
			x := uniform(rng, -1, 1, c.x...).as(typ)
			pool := func(f func(inside []float64, padding int) float64) array {
				return arrayOf(append([]int{c.x[0], c.x[1]}, slid(x, c.window, opt.Window, opt.CeilMode)...), func(i []int) float64 {
					var inside []float64
					padding := 0
					windowed(x, i[2:], c.window, opt.Window, func(at, _ []int) {
						if at == nil {
							padding++
						} else {
							inside = append(inside, x.at(append([]int{i[0], i[1]}, at...)...))
						}
					})
					return f(inside, padding)
				})
			}
			expect(t, label("max ", typ, c.x, c.window), x.promise(typ).MaxPool(c.window, c.opt), typ,
				pool(func(in []float64, _ int) float64 { return reductions["Max"].want(in) }))
			expect(t, label("average ", typ, c.x, c.window), x.promise(typ).AveragePool(c.window, c.opt), typ,
				pool(func(in []float64, padding int) float64 {
					if opt.CountPadding {
						return sum(in) / float64(len(in)+padding)
					}
					return mean(in)
				}))
		}
	}
	x := must(berth.Zeros(berth.Float32, 1, 3, 4, 4)).Promise()
	wantError(t, "window", x.MaxPool([]int{5, 1}, nil).Err(), "[1 3 4 4]")
	wantError(t, "rank", x.MaxPool([]int{2}, nil).Err(), "[1 3 4 4]", "[2]")
	wantError(t, "pads", x.AveragePool([]int{2, 2}, &berth.PoolOptions{Window: berth.Window{Pads: []int{1}}}).Err(), "[1]")
}
