package find

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

func TestNonZero(t *testing.T) {
	for _, dt := range dtype.All() {
		if dt.IsLowPrecision() {
			continue
		}
		values := []float64{0, 1, math.Copysign(0, -1), 3}
		if dt.IsFloat() {
			values = append(values, math.NaN(), -1, math.Inf(-1))
		}
		data := kernel.Alloc(len(values) * dt.Size())
		for i, v := range values {
			s := kernel.Float64Scalar(v).Cast(dt)
			s.Put(data[i*dt.Size():])
		}
		want := []int64{1, 3, 4, 5, 6}[:len(values)-2]
		if got := NonZero(dt, data); !slices.Equal(got, want) {
			t.Errorf("%v: of %v, elements %v are not zero, want %v", dt, values, got, want)
		}
	}
	if got := NonZero(dtype.Int32, nil); got == nil || len(got) != 0 {
		t.Errorf("of nothing, %v are not zero", got)
	}
}

func TestUnravel(t *testing.T) {
	got := Unravel([]int64{0, 5, 23}, []int{2, 3, 4})
	if want := []int64{0, 0, 1, 0, 1, 2, 0, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("indices are %v, want %v", got, want)
	}
	if got := Unravel(nil, []int{2, 0}); len(got) != 0 {
		t.Errorf("indices of nothing are %v", got)
	}
}

// TestUnique compares with a search through all rows before each.
func TestUnique(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for range 300 {
		rows, width := rng.IntN(9), rng.IntN(4)
		keys := make([]uint64, rows*width)
		for i := range keys {
			keys[i] = rng.Uint64N(3)
		}
		row := func(i int64) []uint64 { return keys[int(i)*width:][:width] }
		for _, ascending := range []bool{true, false} {
			first, inverse, counts := Unique(keys, rows, ascending)
			seen, total := make([]int64, len(first)), int64(0)
			for i := range int64(rows) {
				kind := inverse[i]
				seen[kind]++
				if !slices.Equal(row(first[kind]), row(i)) || first[kind] > i {
					t.Fatalf("row %d of %v is said to be row %d", i, keys, first[kind])
				}
			}
			for i, f := range first {
				total += counts[i]
				if seen[i] != counts[i] || inverse[f] != int64(i) {
					t.Fatalf("of %v, row %d is there %d times, not %d", keys, f, seen[i], counts[i])
				}
				if i == 0 {
					continue
				}
				if ascending && slices.Compare(row(first[i-1]), row(f)) >= 0 || !ascending && first[i-1] >= f {
					t.Fatalf("rows %v of %v are out of order, ascending %v", first, keys, ascending)
				}
			}
			if total != int64(rows) {
				t.Fatalf("counts %v are of %d rows", counts, rows)
			}
		}
	}
}

// TestNonMaxSuppression has boxes on a line, each 2 wide and 1 high, by where they
// begin.
func TestNonMaxSuppression(t *testing.T) {
	line := func(lefts ...float32) []float32 {
		var corners []float32
		for _, x := range lefts {
			corners = append(corners, 0, x, 1, x+2)
		}
		return corners
	}
	third := float32(1) / 3 // of two boxes that begin 1 apart
	half := float32(.5)
	nan := float32(math.NaN())
	for _, c := range []struct {
		what    string
		boxes   Boxes
		most    int
		overlap float32
		least   *float32
		want    []int64
	}{
		{"the highest scores first", Boxes{1, 1, 3, line(0, 5, 10), false, []float32{1, 3, 2}}, 9, 0, nil, []int64{0, 0, 1, 0, 0, 2, 0, 0, 0}},
		{"so many", Boxes{1, 1, 3, line(0, 5, 10), false, []float32{1, 3, 2}}, 2, 0, nil, []int64{0, 0, 1, 0, 0, 2}},
		{"none", Boxes{1, 1, 1, line(0), false, []float32{1}}, 0, 0, nil, nil},
		{"less than none", Boxes{1, 1, 1, line(0), false, []float32{1}}, -1, 0, nil, nil},
		{"overlapping", Boxes{1, 1, 3, line(0, 1, 2), false, []float32{1, 3, 2}}, 9, .3, nil, []int64{0, 0, 1}},
		{"no more than may be", Boxes{1, 1, 3, line(0, 1, 2), false, []float32{1, 3, 2}}, 9, third, nil, []int64{0, 0, 1, 0, 0, 2, 0, 0, 0}},
		{"what one overlaps that was not taken", Boxes{1, 1, 3, line(0, 1, 2), false, []float32{3, 2, 1}}, 9, .3, nil, []int64{0, 0, 0, 0, 0, 2}},
		{"equal scores", Boxes{1, 1, 3, line(0, 1, 5), false, []float32{1, 1, 1}}, 9, .3, nil, []int64{0, 0, 0, 0, 0, 2}},
		{"scores too low", Boxes{1, 1, 3, line(0, 5, 10), false, []float32{.5, .6, nan}}, 9, 0, &half, []int64{0, 0, 1}},
		{"other corners", Boxes{1, 1, 2, []float32{1, 2, 0, 0, 0, 3, 1, 1}, false, []float32{1, 2}}, 9, .3, nil, []int64{0, 0, 1}},
		{"centres", Boxes{1, 1, 2, []float32{1, .5, 2, 1, 2, .5, 2, 1}, true, []float32{1, 2}}, 9, .3, nil, []int64{0, 0, 1}},
		{"centres apart", Boxes{1, 1, 2, []float32{1, .5, 2, 1, 1, 1.6, 2, 1}, true, []float32{1, 2}}, 9, 0, nil, []int64{0, 0, 1, 0, 0, 0}},
		{"boxes of no size", Boxes{1, 1, 2, []float32{0, 0, 0, 0, 0, 0, 0, 0}, false, []float32{1, 2}}, 9, 0, nil, []int64{0, 0, 1, 0, 0, 0}},
		{"batches and classes", Boxes{2, 2, 1, line(0, 0), false, []float32{1, 1, 0, 1}}, 9, 0, &half, []int64{0, 0, 0, 0, 1, 0, 1, 1, 0}},
	} {
		if got := c.boxes.NonMaxSuppression(c.most, c.overlap, c.least); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v, want %v", c.what, got, c.want)
		}
	}
}
