package extent_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/internal/extent"
)

// learned fits f as a program is compiled: at the points to learn at, and at
// more of them as long as several functions fit.
func learned(dims []extent.Dim, f func(p extent.Point) int) (*extent.Space, extent.Func, error) {
	points := append(extent.Learning(dims), extent.Checking(dims)...)
	for {
		s := extent.NewSpace(dims, points)
		values := make([]int, len(points))
		for i, p := range points {
			values[i] = f(p)
		}
		got, err := s.Fit(values, nil)
		var more *extent.AmbiguousError
		if !errors.As(err, &more) || len(points) > 100 {
			return s, got, err
		}
		points = append(points, more.Point)
	}
}

// TestFit learns functions of the kinds that extents are, and compares them with
// the truth at every point within the bounds.
func TestFit(t *testing.T) {
	n := []extent.Dim{{Name: "n", Min: 1, Max: 64}}
	few := []extent.Dim{{Name: "n", Min: 1, Max: 2}}
	two := []extent.Dim{{Name: "batch", Min: 1, Max: 4}, {Name: "seq", Min: 1, Max: 128}}
	cache := []extent.Dim{{Name: "batch", Min: 1, Max: 3}, {Name: "seq", Min: 1, Max: 16}, {Name: "past", Min: 0, Max: 50}}
	image := []extent.Dim{{Name: "h", Min: 32, Max: 96}, {Name: "w", Min: 32, Max: 320}}
	for _, c := range []struct {
		name string
		dims []extent.Dim
		f    func(p extent.Point) int
	}{
		{"constant", n, func(p extent.Point) int { return 7 }},
		{"dimension", n, func(p extent.Point) int { return p[0] }},
		{"two rows", few, func(p extent.Point) int { return 5*p[0] - 2 }},
		{"less one", n, func(p extent.Point) int { return p[0] - 1 }},
		{"square", n, func(p extent.Point) int { return p[0] * p[0] }},
		{"at most", n, func(p extent.Point) int { return min(p[0], 40) }},
		{"at least", n, func(p extent.Point) int { return max(3*p[0], 50) }},
		{"between bounds", n, func(p extent.Point) int { return min(max(p[0]-6, 0), 25) }},
		{"less at one", n, func(p extent.Point) int { return min(p[0], 2) }},
		{"more at one", few, func(p extent.Point) int { return max(3-p[0], 1) }},
		{"between near bounds", n, func(p extent.Point) int { return min(max(p[0]-4, 0), 3) }},
		{"between near bounds of few", []extent.Dim{{Name: "n", Min: 1, Max: 6}}, func(p extent.Point) int { return min(max(p[0]-2, 0), 2) }},
		{"between bounds of many", []extent.Dim{{Name: "n", Min: 1, Max: 5000}}, func(p extent.Point) int { return max(7, min(3*p[0], 3001)) }},
		{"falling", n, func(p extent.Point) int { return 64 - p[0] }},
		{"flat", two, func(p extent.Point) int { return p[0] * p[1] * 384 }},
		{"padded", two, func(p extent.Point) int { return p[0] * (p[1] + 2) }},
		{"mask", two, func(p extent.Point) int { return p[0] * p[1] * p[1] }},
		{"total", cache, func(p extent.Point) int { return p[1] + p[2] }},
		{"scores", cache, func(p extent.Point) int { return 4 * p[1] * (p[1] + p[2]) }},
		{"batch of scores", cache, func(p extent.Point) int { return p[0] * p[1] * (p[1] + p[2]) }},
		{"strided", image, func(p extent.Point) int { return (p[1]-1)/2 + 1 }},
		{"strided thrice", image, func(p extent.Point) int { return (((p[1]+1)/2+1)/2 + 1) / 2 }},
		{"unpadded", image, func(p extent.Point) int { return (p[0]-7)/4 + 1 }},
		{"upsampled", image, func(p extent.Point) int { return 2 * ((p[0] + 1) / 2) }},
		{"resized to 0.7", []extent.Dim{{Name: "n", Min: 1, Max: 30}}, func(p extent.Point) int { return 7 * p[0] / 10 }},
		{"resized to 0.7 of many", []extent.Dim{{Name: "n", Min: 1, Max: 900}}, func(p extent.Point) int { return 7 * p[0] / 10 }},
		{"resized by a root", []extent.Dim{{Name: "n", Min: 1, Max: 900}}, func(p extent.Point) int { return int(math.Sqrt2 * float64(p[0])) }},
		{"resized and falling", n, func(p extent.Point) int { return 200 - 3*(5*p[0]/7) }},
		{"frames", []extent.Dim{{Name: "samples", Min: 640, Max: 16000}}, func(p extent.Point) int { return (p[0]-512)/160 + 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, f, err := learned(c.dims, c.f)
			if err != nil {
				t.Fatal(err)
			}
			lo, hi := s.Range(f)
			all(c.dims, func(p extent.Point) {
				got, want := s.At(f, p), c.f(p)
				if got != want && !t.Failed() {
					t.Errorf("%s is %d at %s, want %d", s.String(f), got, extent.Text(c.dims, p), want)
				}
				if (want < lo || want > hi) && !t.Failed() {
					t.Errorf("%s is %d at %s, out of [%d, %d]", s.String(f), want, extent.Text(c.dims, p), lo, hi)
				}
			})
		})
	}
}

// all calls f with every point within the bounds of dims.
func all(dims []extent.Dim, f func(p extent.Point)) {
	p := make(extent.Point, len(dims))
	var try func(i int)
	try = func(i int) {
		if i == len(dims) {
			f(p)
			return
		}
		for p[i] = dims[i].Min; p[i] <= dims[i].Max; p[i]++ {
			try(i + 1)
		}
	}
	try(0)
}

// TestFitOfOthers learns what is made of extents that were learned before: strides,
// which are products, and sums, as concatenations have.
func TestFitOfOthers(t *testing.T) {
	dims := []extent.Dim{{Name: "h", Min: 32, Max: 96}, {Name: "w", Min: 32, Max: 320}}
	least := func(p extent.Point) int { return min(p[0], 40) }
	half := func(n int) int { return (n-1)/2 + 1 }
	extents := []func(p extent.Point) int{
		func(p extent.Point) int { return half(p[0]) },
		func(p extent.Point) int { return half(half(p[1])) },
		func(p extent.Point) int { return half(p[0]) * half(half(p[1])) },
		func(p extent.Point) int { return 24 * half(p[0]) * half(half(p[1])) },
		func(p extent.Point) int { return (half(p[0]) + 1) * half(half(p[1])) },
		func(p extent.Point) int { return min(half(p[0])*half(half(p[1])), 1000) },
		least,
		func(p extent.Point) int { return p[0] + p[1] },
		func(p extent.Point) int { return (2*(p[0]+p[1]) + 1) / 3 },
		func(p extent.Point) int { return 3*half(p[0]) + 2*half(half(p[1])) + 5*p[0] - 1 },
		func(p extent.Point) int { return half(p[0])*half(half(p[1])) - 2*p[1] + 7*least(p) },
	}
	points := extent.Learning(dims)
	for {
		s := extent.NewSpace(dims, points)
		found := make([]extent.Func, len(extents))
		var err error
		for i, f := range extents {
			values := make([]int, len(points))
			for k, p := range points {
				values[k] = f(p)
			}
			if found[i], err = s.Fit(values, nil); err != nil {
				break
			}
		}
		var more *extent.AmbiguousError
		if errors.As(err, &more) {
			points = append(points, more.Point)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		values := make([]int, s.Len())
		all(dims, func(p extent.Point) {
			s.Eval(p, values)
			for i, f := range extents {
				if got := values[found[i]]; got != f(p) && !t.Failed() {
					t.Errorf("%s is %d at %v, want %d", s.String(found[i]), got, p, f(p))
				}
			}
		})
		return
	}
}

// TestFitRefuses gives values of functions that are none of those tried.
func TestFitRefuses(t *testing.T) {
	root := func(n int) int { return int(math.Sqrt(float64(50 * n))) }
	for name, f := range map[string]func(n, m int) int{
		"root":         func(n, _ int) int { return root(n) },
		"cube":         func(n, _ int) int { return n*n*n + 1 },
		"parity":       func(n, _ int) int { return n + n%2*3 },
		"scramble":     func(n, _ int) int { return n * 7919 % 64 },
		"bend by both": func(n, m int) int { return min(n, 200+m%3*(m%2)) },
	} {
		s, got, err := learned([]extent.Dim{{Name: "n", Min: 1, Max: 900}, {Name: "m", Min: 1, Max: 900}}, func(p extent.Point) int { return f(p[0], p[1]) })
		if err == nil {
			t.Errorf("%s is taken for %s", name, s.String(got))
		}
		if errors.As(err, new(*extent.AmbiguousError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFitChecks has sums of four multiples told by four values, which nothing checks,
// and by five.
func TestFitChecks(t *testing.T) {
	points := []extent.Point{{2}, {3}, {5}, {7}, {11}, {4}, {6}, {8}, {9}, {10}}
	s := extent.NewSpace([]extent.Dim{{Name: "n", Min: 2, Max: 11}}, points)
	fit := func(f func(n int) int, rows int) error {
		values, where := make([]int, len(points)), make([]bool, len(points))
		for i, p := range points {
			values[i], where[i] = f(p[0]), i < rows
		}
		_, err := s.Fit(values, where)
		return err
	}
	for _, k := range []int{2, 3} {
		if err := fit(func(n int) int { return n / k }, len(points)); err != nil {
			t.Fatal(err)
		}
	}
	sum := func(n int) int { return 4 + 9*n + n/2 - 5*(n/3) }
	if err := fit(sum, 4); err == nil {
		t.Error("four values tell a function of four coefficients")
	}
	if err := fit(sum, 5); err != nil {
		t.Error(err)
	}
}

// TestFitWhere leaves out what does not count.
func TestFitWhere(t *testing.T) {
	dims := []extent.Dim{{Name: "n", Min: 1, Max: 64}}
	points := extent.Learning(dims)
	s := extent.NewSpace(dims, points)
	values, where := make([]int, len(points)), make([]bool, len(points))
	for i, p := range points {
		if values[i], where[i] = 3*p[0], i%3 > 0; !where[i] {
			values[i] = -1
		}
	}
	if f, err := s.Fit(values, where); err != nil || s.String(f) != "3*n" {
		t.Errorf("got %s, %v", s.String(f), err)
	}
	if f, err := s.Fit(values, make([]bool, len(points))); err != nil || s.String(f) != "0" {
		t.Errorf("of no values got %s, %v", s.String(f), err)
	}
}

// TestPoints holds the points to what they are for.
func TestPoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		dims := make([]extent.Dim, 1+rng.IntN(4))
		for i := range dims {
			lo := rng.IntN(4) * rng.IntN(20)
			dims[i] = extent.Dim{Name: fmt.Sprint("d", i), Min: lo, Max: max(1, lo+rng.IntN(3)*rng.IntN(200))}
		}
		for _, p := range extent.Checking(dims) {
			for i, d := range dims {
				if p[i] < d.Min || p[i] > d.Max {
					t.Fatalf("%v: checked at %v", dims, p)
				}
			}
		}
		learning := extent.Learning(dims)
		for i, d := range dims {
			seen := make(map[int]bool)
			for _, p := range learning {
				seen[p[i]] = true
				few := d.Max-max(d.Min, 2) < 4
				if !d.Fixed() && (p[i] < 2 || p[i] < d.Min || p[i] > d.Max && !few) {
					t.Fatalf("%v: learned at %v", dims, p)
				}
			}
			if want := 4; !d.Fixed() && len(seen) < want {
				t.Fatalf("%v: dimension %d is learned at %d extents: %v", dims, i, len(seen), learning)
			}
		}
	}
	dims := []extent.Dim{{Name: "a", Min: 0, Max: 7}, {Name: "b", Min: 1, Max: 9}}
	if got := extent.Checking(dims)[0]; !slices.Equal(got, extent.Point{7, 9}) {
		t.Errorf("the first point checked is %v", got)
	}
}
