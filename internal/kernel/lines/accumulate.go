package lines

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/berth-go/berth/internal/kernel"
)

// BlockLen is how many elements of a line are accumulated before results are
// joined in pairs.
const BlockLen = 512

// An Operation is an associative operation over elements of type A, in the
// forms that an [Accumulator] needs. The order in which elements meet is part
// of the contract, because it decides the last bits of a floating-point result:
//
//   - a block is up to BlockLen consecutive elements of a line. It has eight
//     lanes, which begin at the identity.
//   - each full stretch of 64 elements x gives lane j the eight elements
//     x[j], x[j+8], ... x[j+56], joined in pairs.
//   - the elements left over go to lane i mod 8 one by one.
//   - the lanes are joined in halves: j with j+4, then j+2, then j+1.
//   - blocks are joined in pairs, pairs of pairs, and so on.
//
// The order depends on the number of an element in its line alone, so that
// strides, the number of lines, and tasks do not matter. Eight lanes map to
// vector registers, and pairs keep the rounding error of a sum of n float32
// elements near log2(n) units instead of n.
type Operation[A kernel.Number] struct {
	identity A
	// block accumulates the elements of one block.
	block func(x []A) A
	// eight joins the elements of eight rows in pairs, then into acc. All
	// rows have the length of acc.
	eight func(acc, r0, r1, r2, r3, r4, r5, r6, r7 []A)
	// join adds x to acc, which has the same length.
	join func(acc, x []A)
}

// An Accumulator applies an operation to the elements of lines, after mapping
// them from the stored type T to the type A of the arithmetic.
type Accumulator[T, A kernel.Number] struct {
	Operation[A]
	// Load maps elements from src[at], src[at+step] ... The map may depend on
	// one number for all of them or, when they are of several lines, on one
	// for each; shift holds that number or numbers.
	Load func(dst []A, src []T, at, step int, shift []A)
	// Plain says that T is A and Load copies, so that dense elements are
	// accumulated where they lie.
	Plain bool
}

// Plain returns the accumulator of elements as they are stored.
func Plain[A kernel.Number](op Operation[A]) Accumulator[A, A] {
	return Accumulator[A, A]{Operation: op, Load: LoadCast[A, A], Plain: true}
}

// Work returns the elements of working memory that [Accumulator.Accumulate] needs.
func (l *Lines) Work() int {
	blocks := kernel.CeilDiv(l.Length, BlockLen)
	depth := bits.Len(uint(blocks)) + 1
	if l.Cols {
		return (16 + depth) * min(Tile, l.Outer.Len)
	}
	return BlockLen + depth
}

// Accumulate sets acc to the results of len(acc) neighbouring lines, which in
// operand k begin at src[at]; more than one only if lines are walked in tiles.
// A line without elements gives the identity.
func (f *Accumulator[T, A]) Accumulate(acc []A, l *Lines, k int, src []T, at int, shift, work []A) {
	switch {
	case l.Length == 0:
		kernel.Fill(acc, f.identity)
	case len(acc) == 1 && !l.Cols:
		acc[0] = f.Line(l, k, src, at, shift, work)
	default:
		f.columns(acc, l, k, src, at, shift, work)
	}
}

// Block returns the result of the elements of one block, [BlockLen] at most and at least one, as
// they are.
func (o *Operation[A]) Block(x []A) A { return o.block(x) }

// Line is [Accumulator.Accumulate] for one line, with elements, where lines are
// not walked in tiles.
func (f *Accumulator[T, A]) Line(l *Lines, k int, src []T, at int, shift, work []A) A {
	var dense []A
	if f.Plain && l.Inner.Rows == 1 && (l.Inner.Inner[k] == 1 || l.Length == 1) {
		dense = kernel.Cast[A](kernel.Bytes(src[at : at+l.Length]))
		if l.Length <= BlockLen {
			return f.block(dense)
		}
	}
	buf, stack := work[:BlockLen], work[BlockLen:]
	top := 0
	for b := 0; b*BlockLen < l.Length; b++ {
		pos := b * BlockLen
		n := min(BlockLen, l.Length-pos)
		if dense != nil {
			stack[top] = f.block(dense[pos : pos+n])
		} else {
			f.gather(buf[:n], l, k, src, at, pos, shift)
			stack[top] = f.block(buf[:n])
		}
		top = f.settle(stack, top+1, 1, b)
	}
	f.finish(stack, top, 1)
	return stack[0]
}

// gather loads the elements of one line from number pos on.
func (f *Accumulator[T, A]) gather(dst []A, l *Lines, k int, src []T, at, pos int, shift []A) {
	step := l.Inner.Inner[k]
	var off [MaxOperands]int
	for len(dst) > 0 {
		n := l.Inner.Locate(pos, pos+len(dst), off[:])
		f.Load(dst[:n], src, at+off[k], step, shift)
		dst, pos = dst[n:], pos+n
	}
}

// settle joins the results of blocks on the stack, each width elements, after
// block number b has been put on top, and returns the new height.
func (f *Accumulator[T, A]) settle(stack []A, top, width, b int) int {
	for ; b&1 == 1; b >>= 1 {
		top--
		f.join(stack[(top-1)*width:top*width], stack[top*width:(top+1)*width])
	}
	return top
}

// finish joins what is left on the stack into its first place.
func (f *Accumulator[T, A]) finish(stack []A, top, width int) {
	for top--; top > 0; top-- {
		f.join(stack[(top-1)*width:top*width], stack[top*width:(top+1)*width])
	}
}

func (f *Accumulator[T, A]) columns(acc []A, l *Lines, k int, src []T, at int, shift, work []A) {
	w := len(acc)
	c := columns[T, A]{
		Accumulator: f, l: l, k: k, src: src, at: at, step: l.Outer.Inner[k], shift: shift, width: w,
		lanes: work[:8*w], buf: work[8*w : 16*w],
	}
	if f.Plain && (c.step == 1 || w == 1) {
		c.dense = kernel.Cast[A](kernel.Bytes(src))
	}
	stack := work[16*w:]
	top := 0
	for b := 0; b*BlockLen < l.Length; b++ {
		c.block(b*BlockLen, min(BlockLen, l.Length-b*BlockLen))
		copy(stack[top*w:(top+1)*w], c.lanes)
		top = f.settle(stack, top+1, w, b)
	}
	f.finish(stack, top, w)
	copy(acc, stack)
}

// columns is the accumulation of a tile of lines: every step of the order that
// [Operation] fixes is done for all lines of the tile at once.
type columns[T, A kernel.Number] struct {
	*Accumulator[T, A]
	l          *Lines
	k          int
	src        []T
	dense      []A // src, where rows are accumulated as they lie
	at, step   int
	shift      []A
	width      int
	lanes, buf []A // eight rows each
}

// block accumulates elements [pos, pos+n) of each line in the first lane.
func (c *columns[T, A]) block(pos, n int) {
	w := c.width
	kernel.Fill(c.lanes, c.identity)
	var offs [64]int
	for ; n >= 64; pos, n = pos+64, n-64 {
		c.l.offsets(offs[:], c.k, pos)
		for j := range 8 {
			c.eight(c.lanes[j*w:(j+1)*w],
				c.row(offs[j], 0), c.row(offs[j+8], 1), c.row(offs[j+16], 2), c.row(offs[j+24], 3),
				c.row(offs[j+32], 4), c.row(offs[j+40], 5), c.row(offs[j+48], 6), c.row(offs[j+56], 7))
		}
	}
	c.l.offsets(offs[:n], c.k, pos)
	for i, o := range offs[:n] {
		j := i & 7
		c.join(c.lanes[j*w:(j+1)*w], c.row(o, 0))
	}
	for half := 4 * w; half >= w; half /= 2 {
		c.join(c.lanes[:half], c.lanes[half:2*half])
	}
}

// row returns the elements at offset o of all lines of the tile, in place or
// loaded into row number slot of the buffer.
func (c *columns[T, A]) row(o, slot int) []A {
	if c.dense != nil {
		return c.dense[c.at+o : c.at+o+c.width]
	}
	r := c.buf[slot*c.width : (slot+1)*c.width]
	c.Load(r, c.src, c.at+o, c.step, c.shift)
	return r
}

// Lowest returns the value of A that is smaller than or equal to all others
// but NaN.
func Lowest[A kernel.Number]() A {
	var zero A
	switch {
	case A(1)/2 != 0: // floating point
		return A(math.Inf(-1))
	case zero-1 > zero: // unsigned
		return zero
	}
	return -Highest[A]() - 1
}

// Highest returns the value of A that is larger than or equal to all others
// but NaN.
func Highest[A kernel.Number]() A {
	var zero A
	switch {
	case A(1)/2 != 0: // floating point
		return A(math.Inf(1))
	case zero-1 > zero: // unsigned
		return zero - 1
	}
	return A(int64(math.MaxInt64) >> (64 - 8*unsafe.Sizeof(zero)))
}
