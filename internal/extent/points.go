package extent

import (
	"math/big"
	"slices"
)

// Learning returns the points at which a graph is built to learn how its extents
// follow the dimensions. They avoid extents of 0 and 1, for which a graph may be
// built in another way, and lie within the bounds, unless these leave fewer than
// five extents to choose from: then some lie above.
//
// Dimensions that are fixed have their one extent everywhere. Without others
// there is one point.
func Learning(dims []Dim) []Point {
	varying := 0
	pools := make([][]int, len(dims))
	for i, d := range dims {
		if pools[i] = []int{d.Min}; !d.Fixed() {
			pools[i] = pool(d)
			varying++
		}
	}
	if varying == 0 {
		return points(pools, 1)
	}
	return points(pools, 6+5*varying)
}

// Within reports whether a point lies within the bounds of dims.
func Within(dims []Dim, p Point) bool {
	for i, d := range dims {
		if p[i] < d.Min || p[i] > d.Max {
			return false
		}
	}
	return true
}

// pool returns extents of a dimension to learn at. Where there is a choice, every
// other one is a prime, which is least likely to be the extent of something else
// too, and the others are even, since what is rounded tells by both.
func pool(d Dim) []int {
	const most, fewest = 11, 5
	lo := max(d.Min, 2)
	n := max(d.Max-lo+1, fewest)
	var out []int
	if n <= 2*most {
		for v := lo + n - 1; v >= lo && len(out) < most; v-- {
			out = append(out, v)
		}
		return out
	}
	for step := range most {
		v := d.Max - (d.Max-lo)*step/(most-1)
		for v > lo && !big.NewInt(int64(v)).ProbablyPrime(0) {
			v--
		}
		out = append(out, max(v-step%2, lo))
	}
	return out
}

// points combines pools so that no two dimensions move together: each goes round
// its pool in steps of its own.
func points(pools [][]int, n int) []Point {
	out := make([]Point, 0, n)
	for j := range n {
		p := make(Point, len(pools))
		varying := 0
		for i, pool := range pools {
			step := varying + 1
			for gcd(step, len(pool)) != 1 {
				step++
			}
			turn := j / len(pool) * varying // so that pools of one length part ways
			p[i] = pool[(j*step+i+turn)%len(pool)]
			if len(pool) > 1 {
				varying++
			}
		}
		out = with(out, p)
	}
	return out
}

// with returns points and p, if that is not among them.
func with(points []Point, p Point) []Point {
	if slices.ContainsFunc(points, func(q Point) bool { return slices.Equal(p, q) }) {
		return points
	}
	return append(points, p)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Largest returns the point of the largest extents.
func Largest(dims []Dim) Point {
	p := make(Point, len(dims))
	for i, d := range dims {
		p[i] = d.Max
	}
	return p
}

// Checking returns the points at which what was learned is checked: the largest
// extents first, then every combination of least and largest ones, and some
// between.
func Checking(dims []Dim) []Point {
	const corners = 4 // dimensions of which all combinations are taken
	largest := Largest(dims)
	out := []Point{largest}
	for set := 1; set < 1<<min(len(dims), corners); set++ {
		p := slices.Clone(largest)
		for i := range min(len(dims), corners) {
			if set>>i&1 == 1 {
				p[i] = dims[i].Min
			}
		}
		out = with(out, p)
	}
	for i, d := range dims {
		for _, v := range []int{d.Min, d.Min + 1, d.Min + 2, d.Min + (d.Max-d.Min)/2, d.Max - 1} {
			if v >= d.Min && v <= d.Max {
				p := slices.Clone(largest)
				p[i] = v
				out = with(out, p)
			}
		}
	}
	return out
}
