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
//	generic_taps.go   its loops over windows that slide over planes
//	channels.go       its loops over images with their channels last
//	winograd.go       transforms of a convolution by minimal filtering
//	vector.go         products of vectors and matrices
//	integer.go        the loops over bytes, and their portable form
//	exp.go, single.go the exponential and other functions that every set computes alike
//	numbers           the constants that Go and assembly share
//	avx512_amd64.go, avx2_amd64.go, neon_arm64.go
//	                  a set each: its loops, and whether the processor has it
//	pack_amd64.go, vector_amd64.go, channels_amd64.go
//	                  loops that the two for amd64 have in common
//	maps_*.go, casts_*.go, compare_*.go
//	                  their loops over elements, written by asmgen
//	check.go, check_taps.go, check_integer.go
//	                  assembly as loops over slices, which it cannot leave
//	sets_*.go         the sets of a processor family
//	*.s               the assembly; asmgen writes it
package isa

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa/numbers"
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
	Exp     func(x []float64)
	Integer IntegerTile

	// Maps are the loops over elements that there are. Those of the generic set are the
	// functions in single.go; the others that a set has give the bits of the plain loops
	// in package elementwise.
	Maps map[MapKey]Map

	// Casts are the conversions that there are; package kernel has the plain ones.
	Casts map[CastKey]Cast
	// Compares are the comparisons that there are; package elementwise has the plain ones.
	Compares map[CompareKey]Compare
	// HalfRows are the products of a row and a matrix of a half type that there are.
	HalfRows map[dtype.Type]HalfRow
	// Folds are those that there are; package lines has the plain ones.
	Folds32 Folds[float32]
	Folds64 Folds[float64]

	here bool // this machine can run it
}

// Chain is how many terms of a sum of products follow one another in a partial sum; see
// [numbers.Chain].
const Chain = numbers.Chain

// A MapKey names a loop over elements: a function, the bits of a floating-point element, and
// the operands that are the same for all elements, as a set of bits. Functions are those of
// package elementwise, by the names that they have there, and
//
//	deviation(x, m) = (x-m)²
//	exp_shift(x, m) = exp(x-m), of float32, within 1.2 units in the last place
//	normalized(x, scale, bias) = ((x-p[0])*p[1])*scale + bias
//	exp_chunk(x) = exp(x), of float64, as exp.go states
//	round_float16(x), round_bfloat16(x) = x rounded to a value of that type
//
// whose plain loops are those of packages lines, norm and kernel, and expShift32.
type MapKey struct {
	Function string
	Bits     int
	Scalars  int
}

// A Map is, for each element of dst,
//
//	dst[i] = f(a[i], b[i], c[i])
//
// where operands that the function does not have are nil, those that are the same for all
// are a[0], and p has the attributes. Dst may be the memory of an operand.
type Map func(dst, a, b, c []byte, p *[2]float64)

// A CastKey names a conversion of elements.
type CastKey struct{ From, To dtype.Type }

// A Cast converts the first elements of a to the first of dst, as many as fill registers, and
// returns how many. It gives the bits of the conversions of package kernel, but for those of
// NaN, which stays one.
type Cast func(dst, a []byte) (elements int)

// A CompareKey names a comparison, as package elementwise does, of elements of a type with others
// or with one that is the same for all.
type CompareKey struct {
	Function string
	Type     dtype.Type
	Scalar   bool
}

// A Compare writes a byte to dst, 1 where it holds and else 0, for each of the first elements of a
// and b, as many as fill registers, and returns how many these are.
type Compare func(dst, a, b []byte) (elements int)

// Converting returns a conversion that plain states, in the form of the active set as far as
// registers are full.
func Converting(from, to dtype.Type, plain kernel.Conversion) kernel.Conversion {
	fast := active.Casts[CastKey{from, to}]
	if fast == nil {
		return plain
	}
	return func(dst, a []byte) {
		if n := fast(dst, a); n*from.Size() < len(a) {
			plain(dst[n*to.Size():], a[n*from.Size():])
		}
	}
}

// MapOf returns the loop of the active set for elements of type T; nil where it has none.
func MapOf[T kernel.Number](function string, scalars int) Map {
	var zero T
	if T(1)/2 == 0 {
		return nil // no floating-point number
	}
	return active.Maps[MapKey{function, 8 * int(unsafe.Sizeof(zero)), scalars}]
}

// Folds join the elements of a block, of which there are some, in the lanes and in the order
// that package lines states; nil where a set has none.
//
// The loops of rows join the elements of eight rows, as long as acc, in pairs and then to those of
// acc, from the first on, and return of how many they have done so.
type Folds[T any] struct {
	Sum, Max, Min func(x []T) T
	// Peak is Max where no element is NaN and the greatest is not 0. If that is 0, it has
	// either sign; if one is NaN, the result is any of the elements or the identity.
	Peak                      func(x []T) T
	SumRows, MaxRows, MinRows func(acc, r0, r1, r2, r3, r4, r5, r6, r7 []T) int
}

// FoldsOf returns the folds of the active set for T.
func FoldsOf[T kernel.Number]() Folds[T] {
	for _, of := range [...]any{active.Folds32, active.Folds64} {
		if f, ok := of.(Folds[T]); ok {
			return f
		}
	}
	return Folds[T]{}
}

// TapRows is how many rows of positions [Tile.TapRows] and [Tile.Tap3x3] take at a
// time. Multiples of it are done best.
const TapRows = numbers.TapRows

// A Grid is what loops over several planes go through: Planes planes of Rows rows of
// Cols positions, and how far in y and in x one plane or row is from the next.
type Grid struct {
	Planes, Rows, Cols int
	PlaneY, RowY       int
	PlaneX, RowX       int
}

// A Tile has the inner loops of products: it multiplies one strip of a left
// matrix by one strip of a right one. Beside it stand the loops of
// depthwise convolutions and poolings, and what convolutions copy with. Their slices may be
// longer than what is read and written.
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
	// MulFrom is Mul of a left matrix with any strides that are not negative, whose
	// element (i, p) is a[i*rowA+p*colA], with the same bits. Where h <= WideRows, w may be up
	// to 2*Cols, the columns of two strips.
	MulFrom func(h, w, k int, a []T, rowA, colA int, b Strips[T], c []T, ldc int, add bool)
	// WideRows is the most rows of a product by two right strips at once, 0 where there is no
	// loop for that.
	WideRows int
	Vectors[T]
	// MulTaps is Mul where row p of the right strip begins at b[taps[p]], for each
	// p < k = taps.Len():
	//
	//	s := 0; for p { s += a[p*Rows+i] * b[taps[p]+j] }
	//
	// with the same chains, and so the same bits. Where h <= WideRows, w may be up to
	// 2*Cols. Full rows of Cols elements of b, or of twice as many, may be read.
	MulTaps func(h, w int, a, b []T, taps Taps, c []T, ldc int, add bool)
	// WindowRows is the most rows of MulWindows.
	WindowRows int
	// MulWindows is Mul of a number of tiles, one below the other, each of h <= WindowRows rows
	// of a left matrix whose element (i, p) is left[i*row+taps[p]], for p < k = taps.Len() and
	// a row that is not negative, and of a whole right strip, whose Row is Cols:
	//
	//	s := 0; for p { s += left[i*row+taps[p]] * b[p*Cols+j] }
	//
	// with the same chains, and so the same bits. At last it is
	//
	//	c[i*ldc+j] += bias[j]	// unless bias is empty
	//
	// Where h <= WideRows, w may be up to 2*Cols, the columns of two strips.
	MulWindows func(h, tiles, w int, left []T, row int, taps Taps, b Strips[T], bias, c []T, ldc int, add bool)
	// Pick is, for each r < count and i < n,
	//
	//	dst[r*dstStep+i] = src[r*srcStep+2*i]
	Pick func(dst, src []T, count, dstStep, srcStep, n int)
	// Spread is, for each r < count, where 0 <= a < b <= n <= Cols,
	//
	//	dst[r*dstStep+i] = src[r*srcStep+i-a] if a <= i < b, or else 0, for i < n
	Spread func(dst, src []T, count, dstStep, srcStep, a, b, n int)
	// Transpose is, for each l < lanes and p < depth, where lanes <= width,
	//
	//	dst[p*width+l] = src[l*lane+p]
	Transpose func(dst, src []T, lanes, lane, depth, width int)
	// TapRows is, for each p, r and i of the grid,
	//
	//	s := 0; for t { s += weights[p*planeW+t] * x[p*PlaneX+r*RowX+offsets[t]+i] }
	//	y[p*PlaneY+r*RowY+i] += s	// or = s, where add is false
	//	y[p*PlaneY+r*RowY+i] += bias[p]	// unless bias is empty
	TapRows func(y, x []T, g *Grid, offsets []int, weights []T, planeW int, bias []T, add bool)
	// Tap3x3 is TapRows of 3x3 taps, without add and with a planeW of 9: tap 3*h+w has the
	// offset h*pitch+offsets[w], and RowX is step*pitch for a step of 1 or 2. Up to Cols
	// elements of x behind the last may be read.
	Tap3x3 func(y, x []T, g *Grid, pitch, step int, offsets *[3]int, weights, bias []T)
	// CopyRows is, for each p, r and i of the grid,
	//
	//	y[p*PlaneY+r*RowY+i] = x[p*PlaneX+r*RowX+i]
	CopyRows func(y, x []T, g *Grid)
	// Split is, for each p, r and i of the grid,
	//
	//	even[p*PlaneY+r*RowY+i/2] = x[p*PlaneX+r*RowX+i] // for even i, and
	//	odd[p*PlaneY+r*RowY+i/2] = x[p*PlaneX+r*RowX+i]  // for odd ones
	Split func(even, odd, x []T, g *Grid)
	// MaxRows is, for each p, r and i of the grid,
	//
	//	m := the lowest value; for t { v := x[p*PlaneX+r*RowX+offsets[t]+i]; if v > m { m = v } }
	//	y[p*PlaneY+r*RowY+i] = m // NaN if there was one
	MaxRows func(y, x []T, g *Grid, offsets []int)
	// MeanRows is, for each p, r and i of the grid,
	//
	//	s := 0.0; for t { s += float64(x[p*PlaneX+r*RowX+offsets[t]+i]) }
	//	y[p*PlaneY+r*RowY+i] = T(s / (counts[i]*lines[r]))
	MeanRows func(y, x []T, g *Grid, offsets []int, counts, lines []float64)
	Channels[T]
}

// Strips are a right strip or two: element (p, j) lies at Data[p*Row+j], and from column
// [Tile.Cols] on at Data[Next+p*Row+j-Cols].
type Strips[T any] struct {
	Data      []T
	Row, Next int
	// Ahead, unless it is empty, is a part of a strip that will be read soon, and the one Next
	// elements behind it a part of another. A product by two strips fetches them meanwhile,
	// [AheadBytes] of each for every four terms.
	Ahead []T
}

// AheadBytes is how much of a strip is fetched ahead for every four terms. By so many tiles a
// whole strip is.
const (
	AheadBytes = numbers.AheadBytes
	AheadTiles = 4
)

// Ahead returns what a product of k terms is to fetch ahead which is the i-th by the same
// strips, of those that begin at after and have n elements each.
func Ahead[T kernel.Number](after []T, n, i, k int) []T {
	var one T
	if at := i * (k / 4) * (AheadBytes / int(unsafe.Sizeof(one))); i < AheadTiles && at < min(n, len(after)) {
		return after[at:]
	}
	return nil
}

// Columns returns the columns of the next tile of a product of which n are left, and the most
// rows of it: the columns of two strips where there is a loop for them and more are left than
// one strip and the half of one have, which it takes as long for as for two.
func (t *Tile[T]) Columns(n int) (cols, rows int) {
	if t.WideRows > 0 && 2*n > 3*t.Cols {
		return min(n, 2*t.Cols), t.WideRows
	}
	return min(n, t.Cols), t.Rows
}

// Taps are where the rows of the right strip of [Tile.MulTaps] begin, or the columns of
// the left matrix of [Tile.MulWindows].
type Taps struct {
	offsets []int
	last    int // at least each of them
}

// Reset makes t empty. It keeps the memory.
func (t *Taps) Reset() { *t = Taps{offsets: t.offsets[:0]} }

// Append adds one that begins at an offset, 0 or more.
func (t *Taps) Append(offset int) {
	if offset < 0 {
		panic("isa: tap before the strip")
	}
	t.offsets, t.last = append(t.offsets, offset), max(t.last, offset)
}

// Len returns how many there are.
func (t *Taps) Len() int { return len(t.offsets) }

// Slice returns those in [from, to). What is multiplied by them must hold those of t.
func (t *Taps) Slice(from, to int) Taps { return Taps{t.offsets[from:to], t.last} }

// Variable names the environment variable that chooses a set by its name when a
// program starts. Without it the best set is chosen.
const Variable = "BERTH_ISA"

var (
	sets          = available()
	active, wrong = choose(os.Getenv(Variable), sets)
)

func init() {
	kernel.UseTransposes(
		func(dst, src []uint32, lanes, lane, depth, width int) {
			active.Float32.Transpose(asFloats[float32](dst), asFloats[float32](src), lanes, lane, depth, width)
		},
		func(dst, src []uint64, lanes, lane, depth, width int) {
			active.Float64.Transpose(asFloats[float64](dst), asFloats[float64](src), lanes, lane, depth, width)
		})
}

// asFloats returns words as numbers of the same width, which are moved alone.
func asFloats[F kernel.Float, W any](words []W) []F { return kernel.Cast[F](kernel.Bytes(words)) }

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
