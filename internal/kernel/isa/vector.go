package isa

import "github.com/berth-go/berth/internal/kernel"

// Vectors are the products of a vector and a matrix, which read the matrix once. An
// element has the bits that [Tile.Mul] gives it.
type Vectors[T any] struct {
	// MulRow is, for j < n and for each stretch of up to [Chain] of the p < k,
	//
	//	s := 0; for p { s += a[p] * b[p*ldb+j] }
	//	c[j] += s	// or = s, in the first stretch where add is false
	//
	// with n and k above 0.
	MulRow func(n, k int, a, b []T, ldb int, c []T, add bool)
	// Dots is, for j < n, with n and k above 0,
	//
	//	s := 0; for p { s += a[p] * b[j*ldb+p] }
	//	c[j] += s	// or = s, in the first stretch
	Dots func(n, k int, a, b []T, ldb int, c []T)
}

// A HalfRow is [Vectors.MulRow] by a matrix of float32 whose elements are stored as halves. It
// computes the first columns, as many as fill registers, and returns how many these are.
type HalfRow func(n, k int, a []float32, b []uint16, ldb int, c []float32, add bool) (columns int)

// checkedHalfRow returns a loop out of assembly, for multiples of a number of columns.
func checkedHalfRow(multiple int, row func(n, k int, a *float32, b *uint16, ldb int, c *float32, add bool)) HalfRow {
	return func(n, k int, a []float32, b []uint16, ldb int, c []float32, add bool) int {
		if n <= 0 || k <= 0 || ldb < 0 {
			panic("isa: row out of range")
		}
		_, _, _ = a[k-1], b[(k-1)*ldb+n-1], c[n-1]
		if n &^= multiple - 1; n > 0 {
			row(n, k, &a[0], &b[0], ldb, &c[0], add)
		}
		return n
	}
}

func genericVectors[T kernel.Number]() Vectors[T] {
	return Vectors[T]{MulRow: mulRow[T], Dots: dots[T]}
}

func mulRow[T kernel.Number](n, k int, a, b []T, ldb int, c []T, add bool) {
	c = c[:n]
	for from := 0; from < k; from += Chain {
		terms := a[from:min(from+Chain, k)]
		for j := 0; j < n; j += 128 {
			var buf [128]T
			sums := buf[:min(128, n-j)]
			for p, v := range terms {
				row := b[(from+p)*ldb+j:][:len(sums)]
				for i, w := range row {
					sums[i] += T(v * w)
				}
			}
			if !add && from == 0 {
				copy(c[j:], sums)
				continue
			}
			for i, s := range sums {
				c[j+i] += s
			}
		}
	}
}

func dots[T kernel.Number](n, k int, a, b []T, ldb int, c []T) {
	for j := range n {
		row := b[j*ldb:][:k]
		for from := 0; from < k; from += Chain {
			var s T
			for p := from; p < min(from+Chain, k); p++ {
				s += T(a[p] * row[p])
			}
			if from == 0 {
				c[j] = s
			} else {
				c[j] += s
			}
		}
	}
}

// checkedVectors returns loops out of assembly. Dots takes groups of so many rows.
func checkedVectors[T kernel.Number](
	group int,
	row func(n, k int, a, b *T, ldb int, c *T, add bool),
	groups func(groups, k int, a, b *T, ldb int, c *T),
) Vectors[T] {
	return Vectors[T]{
		MulRow: func(n, k int, a, b []T, ldb int, c []T, add bool) {
			if n <= 0 || k <= 0 || ldb < 0 {
				panic("isa: row out of range")
			}
			_, _, _ = a[k-1], b[(k-1)*ldb+n-1], c[n-1]
			row(n, k, &a[0], &b[0], ldb, &c[0], add)
		},
		Dots: func(n, k int, a, b []T, ldb int, c []T) {
			if n <= 0 || k <= 0 || ldb < 0 {
				panic("isa: dot products out of range")
			}
			_, _, _ = a[k-1], b[(n-1)*ldb+k-1], c[n-1]
			if n < group {
				for j := range n { // a group of equal rows for each
					var sums [8]T
					groups(1, k, &a[0], &b[j*ldb], 0, &unkept(sums[:])[0])
					c[j] = sums[0]
				}
				return
			}
			groups(n/group, k, &a[0], &b[0], ldb, &c[0])
			if n%group > 0 { // with some of the rows before
				at := n - group
				groups(1, k, &a[0], &b[at*ldb], ldb, &c[at])
			}
		},
	}
}
