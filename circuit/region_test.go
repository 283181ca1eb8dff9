package circuit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// bytesOf lists the bytes of a region in their order.
func bytesOf(r Region) (bytes []int64) {
	for i := range r.Rows {
		for k := range r.Width {
			bytes = append(bytes, r.Offset+i*r.Stride+k)
		}
	}
	return bytes
}

// slot is what the checker knows of an edge in a region.
func slot(q Region) *checked {
	return &checked{rows: q.Rows, width: q.Width, slot: Slot{Offset: q.Offset, Bytes: q.Rows * q.Width, RowStride: q.Stride}}
}

// A part is where the bytes say it is, and there is none exactly when they are not
// rows at one distance. The checker finds the same.
func TestParts(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	parts, apart, drifting := 0, 0, 0
	for range 200000 {
		whole := Region{r.Int64N(10), r.Int64N(7), r.Int64N(8), 0}
		whole.Stride = whole.Width + r.Int64N(6)
		bytes := bytesOf(whole)
		offset, rows, width := r.Int64N(9), r.Int64N(4), r.Int64N(6)
		stride := width + r.Int64N(12)
		if r.IntN(2) == 0 {
			stride = max(width, whole.Width*r.Int64N(3))
		}
		var want []int64 // the bytes of the part
		for i := range rows {
			for k := range width {
				if at := offset + i*stride + k; at < int64(len(bytes)) {
					want = append(want, bytes[at])
				}
			}
		}
		is := int64(len(want)) == rows*width
		distance := width
		if rows > 1 && width > 0 && is {
			distance = want[width] - want[0]
		}
		for i := range want {
			is = is && want[i] == want[0]+int64(i)/width*distance+int64(i)%width
		}
		got, ok := whole.Part(offset, rows, width, stride)
		if ok != is || ok && (got.Rows != rows || got.Width != width || !slices.Equal(bytesOf(got), want)) {
			t.Fatalf("part %d, %d, %d, %d of %+v is %+v, %t; its bytes are %v", offset, rows, width, stride, whole, got, ok, want)
		}
		if !ok || rows == 0 || width == 0 {
			continue
		}
		parts++
		if whole.Rows > 1 && whole.Stride > whole.Width && rows > 1 {
			apart++
			if stride > whole.Width && stride%whole.Width != 0 {
				drifting++
			}
		}
		k := &checker{edges: map[EdgeID]*checked{0: slot(whole), 1: slot(got)}, c: &Circuit{Edges: make([]Edge, 2)}}
		k.checkPiece(InvariantPack, checkedPiece{1, offset, stride}, 0, k.edges[0].byteAt)
		if len(k.faults) > 0 {
			t.Fatalf("part %d, %d, %d, %d of %+v is %+v: %v", offset, rows, width, stride, whole, got, k.faults)
		}
		moved := got
		if rows > 1 && r.IntN(2) == 0 {
			moved.Stride += 1 + r.Int64N(3)
		} else {
			moved.Offset++
		}
		k.edges[1] = slot(moved)
		k.checkPiece(InvariantPack, checkedPiece{1, offset, stride}, 0, k.edges[0].byteAt)
		if len(k.faults) == 0 {
			t.Fatalf("part %d, %d, %d, %d of %+v is %+v; the checker takes it at %+v", offset, rows, width, stride, whole, got, moved)
		}
	}
	if parts < 2000 || apart < 500 || drifting < 20 {
		t.Errorf("only %d parts, %d of rows apart and %d of drifting columns", parts, apart, drifting)
	}
}

// The checker sees through every part that is none, whatever its slot says.
func TestCheckerFindsNoPart(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	tried := 0
	for range 100000 {
		whole := Region{0, 1 + r.Int64N(6), 1 + r.Int64N(7), 0}
		whole.Stride = whole.Width + r.Int64N(6)
		rows, width := 1+r.Int64N(4), 1+r.Int64N(6)
		offset, stride := r.Int64N(9), width+r.Int64N(12)
		if offset+(rows-1)*stride+width > whole.Rows*whole.Width {
			continue
		}
		if _, ok := whole.Part(offset, rows, width, stride); ok {
			continue
		}
		tried++
		k := &checker{edges: map[EdgeID]*checked{0: slot(whole)}, c: &Circuit{Edges: make([]Edge, 2)}}
		at := k.edges[0].byteAt
		claimed := Region{at(offset), rows, width, max(width, at(offset+stride)-at(offset))}
		k.edges[1] = slot(claimed)
		k.checkPiece(InvariantPack, checkedPiece{1, offset, stride}, 0, at)
		if len(k.faults) == 0 {
			t.Fatalf("part %d, %d, %d, %d of %+v is none, and the checker takes it at %+v", offset, rows, width, stride, whole, claimed)
		}
	}
	if tried < 5000 {
		t.Errorf("only %d parts that are none", tried)
	}
}

// Numbers near the end of the range, and senseless ones, are no part and overflow
// nothing.
func TestPartsOfLargeRegions(t *testing.T) {
	const most = math.MaxInt64
	for _, test := range []struct {
		r                           Region
		offset, rows, width, stride int64
		want                        Region
		ok                          bool
	}{
		{Region{0, 1, most, most}, most - 1, 1, 1, 1, Region{most - 1, 1, 1, 1}, true},
		{Region{0, 1, most, most}, most, 1, 1, 1, Region{}, false},
		{Region{0, 1, most, most}, 0, 2, most, most, Region{}, false},
		{Region{0, 1, most, most}, 0, most, 1, 1, Region{0, most, 1, 1}, true},
		{Region{0, 1, most, most}, 0, 1 << 62, 1, 1 << 62, Region{}, false},
		{Region{0, 2, 1 << 61, 1 << 61}, 1 << 61, 1, 1 << 61, most, Region{1 << 61, 1, 1 << 61, 1 << 61}, true},
		{Region{0, 2, most, most}, 0, 1, 1, 1, Region{}, false},
		{Region{0, 4, 1 << 60, most}, 0, 1, 1, 1, Region{}, false},
		{Region{1, 2, 4, 3}, 0, 1, 1, 1, Region{}, false},
		{Region{1, 2, 4, 4}, -1, 1, 1, 1, Region{}, false},
		{Region{1, 2, 4, 4}, 0, -1, 1, 1, Region{}, false},
		{Region{1, 2, 4, 4}, 0, 2, 2, 1, Region{}, false},
		{Region{1, -2, 4, 4}, 0, 0, 0, 0, Region{}, false},
		{Region{1, 2, 4, 4}, 9, 0, 7, 7, Region{1, 0, 7, 7}, true},
	} {
		got, ok := test.r.Part(test.offset, test.rows, test.width, test.stride)
		if got != test.want || ok != test.ok {
			t.Errorf("part %d, %d, %d, %d of %+v: %+v, %t", test.offset, test.rows, test.width, test.stride, test.r, got, ok)
		}
	}
}

// Both tests for a shared byte, the planner's and the checker's, against sets of
// bytes.
func TestSharedBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	random := func() Region {
		q := Region{Offset: r.Int64N(40), Width: 1 + r.Int64N(6), Rows: 1 + r.Int64N(5)}
		q.Stride = q.Width + r.Int64N(8)
		if q.Rows == 1 {
			q.Stride = q.Width
		}
		return q
	}
	for range 50000 {
		a, b := random(), random()
		if r.IntN(2) == 0 && a.Rows > 1 && b.Rows > 1 {
			a.Stride = max(a.Stride, b.Width)
			b.Stride = a.Stride * (1 + r.Int64N(4))
		}
		bytes := make(map[int64]bool)
		for _, at := range bytesOf(a) {
			bytes[at] = true
		}
		want := slices.ContainsFunc(bytesOf(b), func(at int64) bool { return bytes[at] })
		exact := a.Rows == 1 || b.Rows == 1 || a.Stride%b.Stride == 0 || b.Stride%a.Stride == 0
		if got := a.meets(b); got != b.meets(a) || got != want && (exact || want) {
			t.Fatalf("the planner: %+v and %+v share a byte: %t, want %t", a, b, got, want)
		}
		if x, y := slot(a), slot(b); shareByte(x, y) != want || shareByte(y, x) != want {
			t.Fatalf("the checker: %+v and %+v share a byte: not %t", a, b, want)
		}
	}
}

// Sizes near the end of the range take no time, and do not overflow.
func TestSharedBytesOfLargeRegions(t *testing.T) {
	const far = maxReach
	for _, test := range []struct {
		a, b Region
		want bool
	}{
		{Region{0, far / 2, 1, 2}, Region{1, far / 2, 1, 2}, false},
		{Region{0, far / 2, 1, 2}, Region{far - 2, far / 2, 1, 2}, far%2 == 0},
		{Region{0, far / 4, 1, 4}, Region{far / 2, 1, 3, 3}, (far/2)%4 != 1},
		{Region{0, 1, far, far}, Region{far, 1, far, far}, false},
		{Region{0, 1, far, far}, Region{far - 1, 2, 1, far}, true},
	} {
		if got := test.a.meets(test.b); got != test.want {
			t.Errorf("%+v and %+v: %t", test.a, test.b, got)
		}
		if got := shareByte(slot(test.a), slot(test.b)); got != test.want {
			t.Errorf("the checker: %+v and %+v: %t", test.a, test.b, got)
		}
	}
}
