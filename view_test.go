package berth_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth"
)

// ramp returns the tensor of 0, 1, 2 ... in row-major order.
func ramp(dims ...int) *berth.Tensor {
	n := -1.0
	return arrayOf(dims, func([]int) float64 { n++; return n }).tensor(berth.Int32)
}

// sharesStorage reports whether two tensors lie in the same storage.
func sharesStorage(a, b *berth.Tensor) bool {
	x, y := inside.Leaf(a).Data, inside.Leaf(b).Data
	return len(x) > 0 && len(y) > 0 && &x[0] == &y[0]
}

// TestViews compares views with the elements picked one by one, and sees to it
// that none copies.
func TestViews(t *testing.T) {
	x := ramp(2, 3, 4)
	a := read(x)
	for _, c := range []struct {
		name string
		got  func() (*berth.Tensor, error)
		want array
	}{
		{"permute", func() (*berth.Tensor, error) { return x.Permute(2, 0, 1) },
			arrayOf([]int{4, 2, 3}, func(i []int) float64 { return a.at(i[1], i[2], i[0]) })},
		{"transpose", x.Transpose,
			arrayOf([]int{2, 4, 3}, func(i []int) float64 { return a.at(i[0], i[2], i[1]) })},
		{"slice", func() (*berth.Tensor, error) { return x.Slice(1, 1, 3, 1) },
			arrayOf([]int{2, 2, 4}, func(i []int) float64 { return a.at(i[0], i[1]+1, i[2]) })},
		{"slice by 3", func() (*berth.Tensor, error) { return x.Slice(-1, 0, 100, 3) },
			arrayOf([]int{2, 3, 2}, func(i []int) float64 { return a.at(i[0], i[1], 3*i[2]) })},
		{"slice from the end", func() (*berth.Tensor, error) { return x.Slice(2, -3, -1, 1) },
			arrayOf([]int{2, 3, 2}, func(i []int) float64 { return a.at(i[0], i[1], i[2]+1) })},
		{"reversed", func() (*berth.Tensor, error) { return x.Slice(2, -1, math.MinInt, -1) },
			arrayOf([]int{2, 3, 4}, func(i []int) float64 { return a.at(i[0], i[1], 3-i[2]) })},
		{"reversed by 2", func() (*berth.Tensor, error) { return x.Slice(2, 3, 0, -2) },
			arrayOf([]int{2, 3, 2}, func(i []int) float64 { return a.at(i[0], i[1], 3-2*i[2]) })},
		{"nothing", func() (*berth.Tensor, error) { return x.Slice(2, 3, 1, 1) }, list(nil, 2, 3, 0)},
		{"index", func() (*berth.Tensor, error) { return x.Index(1, 2) },
			arrayOf([]int{2, 4}, func(i []int) float64 { return a.at(i[0], 2, i[1]) })},
		{"last index", func() (*berth.Tensor, error) { return x.Index(-1, -1) },
			arrayOf([]int{2, 3}, func(i []int) float64 { return a.at(i[0], i[1], 3) })},
		{"broadcast", func() (*berth.Tensor, error) { return must(x.Slice(1, 0, 1, 1)).BroadcastTo(5, 2, 3, 4) },
			arrayOf([]int{5, 2, 3, 4}, func(i []int) float64 { return a.at(i[1], 0, i[3]) })},
		{"broadcast to nothing", func() (*berth.Tensor, error) { return must(x.Slice(1, 0, 1, 1)).BroadcastTo(2, 0, 4) },
			list(nil, 2, 0, 4)},
		{"reshape", func() (*berth.Tensor, error) { return x.Reshape(6, -1) },
			arrayOf([]int{6, 4}, func(i []int) float64 { return a.data[4*i[0]+i[1]] })},
		{"reshape of reversed", func() (*berth.Tensor, error) { return must(x.Slice(0, 1, -3, -1)).Reshape(2, 12) },
			arrayOf([]int{2, 12}, func(i []int) float64 { return a.data[12*(1-i[0])+i[1]] })},
	} {
		v, err := c.got()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !sharesStorage(v, x) {
			t.Errorf("%s copies the storage", c.name)
		}
		if err := berth.Close(v, c.want.tensor(berth.Int32), 0, 0); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}

	// Where no strides do, Reshape copies.
	v := must(must(x.Transpose()).Reshape(24))
	if sharesStorage(v, x) || !v.IsDense() {
		t.Error("a transposed tensor cannot be reshaped in place")
	}
	if want := read(must(x.Transpose())); !slices.Equal(read(v).data, want.data) {
		t.Errorf("got %v, want %v", v, want.data)
	}
	if x.Contiguous() != x {
		t.Error("a dense tensor was copied")
	}
	if c := must(x.Transpose()).Contiguous(); !c.IsDense() || !berth.Equal(c, must(x.Transpose())) {
		t.Errorf("got %v", c)
	}
}

// TestViewErrors has every error name the shapes.
func TestViewErrors(t *testing.T) {
	x := ramp(2, 3)
	for _, c := range []struct {
		name  string
		err   error
		parts []string
	}{
		{"reshape", second(x.Reshape(4)), []string{"int32[2 3]", "[4]", "6 elements"}},
		{"reshape -1", second(x.Reshape(4, -1)), []string{"[4 -1]", "6 elements"}},
		{"reshape two -1", second(x.Reshape(-1, -1)), []string{"two extents of -1"}},
		{"reshape 0 and -1", second(x.Reshape(0, -1)), []string{"[0 -1]"}},
		{"reshape negative", second(x.Reshape(-2, -3)), []string{"negative extent -2"}},
		{"reshape overflow", second(x.Reshape(math.MaxInt, 2)), []string{"more than"}},
		{"reshape -1 overflow", second(x.Reshape(-1, math.MaxInt, 2)), []string{"more than"}},
		{"slice step", second(x.Slice(0, 0, 1, 0)), []string{"step 0"}},
		{"slice axis", second(x.Slice(2, 0, 1, 1)), []string{"axis 2", "int32[2 3]"}},
		{"index", second(x.Index(1, 3)), []string{"index 3", "axis 1", "int32[2 3]"}},
		{"index", second(x.Index(1, -4)), []string{"index -4"}},
		{"index axis", second(x.Index(-3, 0)), []string{"axis -3"}},
		{"transpose", second(must(x.Index(0, 0)).Transpose()), []string{"int32[3]", "2 axes"}},
		{"permute", second(x.Permute(0)), []string{"[0]", "2"}},
		{"permute twice", second(x.Permute(0, 0)), []string{"[0 0]"}},
		{"broadcast", second(x.BroadcastTo(2, 4)), []string{"[2 3]", "[2 4]"}},
		{"broadcast rank", second(x.BroadcastTo(3)), []string{"[2 3]", "[3]"}},
		{"broadcast negative", second(x.BroadcastTo(-1, 2, 3)), []string{"negative"}},
	} {
		wantError(t, c.name, c.err, c.parts...)
	}
}

// TestViewsAgree builds random chains of views of a tensor and of a promise of
// it, which must have the same elements.
func TestViewsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 500 {
		dims := make([]int, rng.IntN(4))
		for i := range dims {
			dims[i] = rng.IntN(4)
		}
		x := ramp(dims...)
		p := x.Promise()
		for range 1 + rng.IntN(6) {
			s := x.Shape()
			axis := rng.IntN(len(s)+1) - 1 // -1 where there is none
			var err error
			switch rng.IntN(6) {
			case 0:
				perm := rng.Perm(len(s))
				x, err = x.Permute(perm...)
				p = p.Permute(perm...)
			case 1:
				if len(s) > 0 {
					start, end, step := rng.IntN(12)-6, rng.IntN(12)-6, []int{1, 2, -1, -2}[rng.IntN(4)]
					x, err = x.Slice(axis, start, end, step)
					p = p.Slice(axis, start, end, step)
				}
			case 2:
				to := append([]int{1 + rng.IntN(2)}, s...)
				x, err = x.BroadcastTo(to...)
				p = p.BroadcastTo(to...)
			case 3:
				x, err = x.Reshape(x.Len())
				p = p.Flatten()
			case 4:
				to := slices.Clone(s)
				slices.Reverse(to)
				x, err = x.Reshape(to...)
				p = p.Reshape(to...)
			case 5:
				if len(s) > 0 && s[max(axis, 0)] > 0 {
					i := rng.IntN(s[max(axis, 0)])
					x, err = x.Index(max(axis, 0), i)
					p = p.Index(max(axis, 0), i)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := bits(t, p); !berth.Equal(got, x) {
			t.Fatalf("the promise gives %v, the tensor is %v", got, x)
		}
	}
}

// TestAttributesAreCopied changes the slices that views were asked with.
func TestAttributesAreCopied(t *testing.T) {
	x := ramp(2, 3, 1)
	dims, perm, wide := []int{3, 2}, []int{1, 0, 2}, []int{2, 3, 4}
	views := []*berth.Tensor{must(x.Reshape(dims...)), must(x.Permute(perm...)), must(x.BroadcastTo(wide...))}
	promises := []*berth.Promise{x.Promise().Reshape(dims...), x.Promise().Permute(perm...), x.Promise().BroadcastTo(wide...)}
	pads, repeats, axes := []int{1, 0, 0, 0, 0, 0}, []int{2, 1, 1}, []int{0, 2}
	promises = append(promises, x.Promise().Pad(berth.PadZero, pads...), x.Promise().Tile(repeats...), x.Promise().Sum(axes...))
	for _, s := range [][]int{dims, perm, wide, pads, repeats, axes} {
		for i := range s {
			s[i] = 50
		}
	}
	for i, want := range [][]int{{3, 2}, {3, 2, 1}, {2, 3, 4}, {3, 3, 1}, {4, 3, 1}, {3}} {
		if i < len(views) {
			if got := views[i].Shape(); !slices.Equal(got, want) {
				t.Errorf("view %d has the shape %v, want %v", i, got, want)
			}
		}
		if got := bits(t, promises[i]).Shape(); !slices.Equal(got, want) {
			t.Errorf("promise %d has the shape %v, want %v", i, got, want)
		}
	}
}
