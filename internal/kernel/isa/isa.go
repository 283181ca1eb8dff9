// Package isa holds the inner loops that are written for each instruction set,
// and chooses the set that kernels use.
//
// A set is one struct, [Loops]. The portable one, [Generic], has every loop in
// Go and defines what each computes; the others have the same loops in
// assembly. The exponential gives the same bits in every set. Products do not:
// where a set fuses multiplications with additions, it rounds less often.
// Within a set an element is the same chain of roundings whatever is computed
// beside it.
//
// Nothing else in the module asks what the processor can do.
//
// # Where to find what
//
//	isa.go            the loops, and the choice of a set
//	generic.go        the portable set
//	winograd.go       transforms of a convolution by minimal filtering
//	exp.go            the exponential that every set computes alike
//	avx512_amd64.go, avx2_amd64.go
//	                  a set each: its loops, and whether the processor has it
//	check.go          assembly as loops over slices, which it cannot leave
//	sets_*.go         the sets of a processor family
//	*.s               the assembly; asmgen writes all but the exponential
package isa

import (
	"fmt"
	"os"
	"strings"
)

// Loops are the inner loops of one instruction set. They keep none of their
// operands, allocate nothing, and may be called by several goroutines at once.
type Loops struct {
	Name     string // "generic", "avx2", ...
	Float32  Tile[float32]
	Float64  Tile[float64]
	Winograd Winograd
	// Exp is, for each i,
	//
	//	x[i] = e^x[i]
	//
	// computed as exp.go states.
	Exp func(x []float64)
	// ExpShift is, for each i < len(dst),
	//
	//	dst[i] = float32(e^(float64(src[i]) - float64(shift[i])))
	//
	// where a shift of one element serves all. Src is as long as dst, and may
	// be dst.
	ExpShift func(dst, src, shift []float32)

	here bool // this machine can run it
}

// Chain is how many terms of a sum of products follow one another in a partial sum.
// The rounding error of n terms grows with Chain + n/Chain instead of n, which is
// least for a Chain of √n. A shorter one would have tiles spend more of their time
// on adding to the result.
const Chain = 64

// A Tile has the inner loops of products: it multiplies one strip of a left
// matrix by one strip of a right one. Beside it stand the loops that
// convolutions add.
type Tile[T any] struct {
	Rows, Cols int // of a full tile: the height of left strips, the width of right ones
	// Mul is, for i < h <= Rows and j < w <= Cols, and for each stretch of up to
	// [Chain] of the p < k,
	//
	//	s := 0; for p { s += a[p*Rows+i] * b[p*ldb+j] }
	//	c[i*ldc+j] += s	// or = s, in the first stretch where add is false
	//
	// with k > 0. Full rows of Cols elements of b may be read. An element's
	// value does not depend on h and w.
	Mul func(h, w, k int, a, b []T, ldb int, c []T, ldc int, add bool)
	// Spread is, for each r < count, where 0 <= a < b <= n <= Cols,
	//
	//	dst[r*dstStep+i] = src[r*srcStep+i-a] if a <= i < b, or else 0, for i < n
	Spread func(dst, src []T, count, dstStep, srcStep, a, b, n int)
	// TapSum is, for each i < len(y),
	//
	//	s := 0; for t { s += weights[t] * x[i+offsets[t]] }
	//	y[i] += s	// or = s, where add is false
	TapSum func(y, x []T, offsets []int, weights []T, add bool)
}

// Variable names the environment variable that chooses a set by its name when a
// program starts. Without it the best set is chosen.
const Variable = "BERTH_ISA"

var (
	sets          = available()
	active, wrong = choose(os.Getenv(Variable), sets)
)

// available returns the sets that this machine can run.
func available() []*Loops {
	var list []*Loops
	for _, set := range native() {
		if set.here {
			list = append(list, set)
		}
	}
	return append(list, &Generic)
}

// choose returns the set with the given name, and the first one without a name.
// With a name that no set has it returns an error beside the first set.
func choose(name string, sets []*Loops) (*Loops, error) {
	var names []string
	for _, set := range sets {
		if set.Name == name {
			return set, nil
		}
		names = append(names, set.Name)
	}
	if name == "" {
		return sets[0], nil
	}
	return sets[0], fmt.Errorf("%s=%s: this machine has the instruction sets %s", Variable, name, strings.Join(names, ", "))
}

// Sets returns the sets that this machine has, the best first and [Generic] last.
// The slice is the caller's own.
func Sets() []*Loops { return append([]*Loops(nil), sets...) }

// Active returns the set that kernels use. A kernel takes the loops of its
// products when it is made.
func Active() *Loops { return active }

// Check returns an error if the environment asks for a set that this machine
// does not have.
func Check() error { return wrong }

// Use makes set the one that kernels use, and returns the one before. It is for
// tests, and must not be called while a kernel is made or run.
func Use(set *Loops) (before *Loops) {
	before, active = active, set
	return before
}
