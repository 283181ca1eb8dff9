package circuit

import (
	"math/rand/v2"
	"testing"
)

// Both tests for a shared byte, the planner's and the checker's, against sets of
// bytes.
func TestSharedBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	random := func() region {
		q := region{at: r.Int64N(40), width: 1 + r.Int64N(6), rows: 1 + r.Int64N(5)}
		q.pitch = q.width + r.Int64N(8)
		if q.rows == 1 {
			q.pitch = q.width
		}
		return q
	}
	for range 50000 {
		a, b := random(), random()
		if r.IntN(2) == 0 && a.rows > 1 && b.rows > 1 {
			b.pitch = max(a.pitch, b.width)
			a.pitch = b.pitch
		}
		bytes := make(map[int64]bool)
		for i := range a.rows {
			for k := range a.width {
				bytes[a.at+i*a.pitch+k] = true
			}
		}
		want := false
		for i := range b.rows {
			for k := range b.width {
				want = want || bytes[b.at+i*b.pitch+k]
			}
		}
		exact := a.rows == 1 || b.rows == 1 || a.pitch == b.pitch
		if got := a.meets(b); got != b.meets(a) || got != want && (exact || want) {
			t.Fatalf("the planner: %+v and %+v share a byte: %t, want %t", a, b, got, want)
		}
		slot := func(q region) *checked {
			return &checked{rows: q.rows, width: q.width, slot: Slot{Offset: q.at, Bytes: q.rows * q.width, RowStride: q.pitch}}
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
		a, b region
		want bool
	}{
		{region{0, 1, far / 2, 2}, region{1, 1, far / 2, 2}, false},
		{region{0, 1, far / 2, 2}, region{far - 2, 1, far / 2, 2}, far%2 == 0},
		{region{0, 1, far / 4, 4}, region{far / 2, 3, 1, 3}, (far/2)%4 != 1},
		{region{0, far, 1, far}, region{far, far, 1, far}, false},
		{region{0, far, 1, far}, region{far - 1, 1, 2, far}, true},
	} {
		if got := test.a.meets(test.b); got != test.want {
			t.Errorf("%+v and %+v: %t", test.a, test.b, got)
		}
		slot := func(q region) *checked {
			return &checked{rows: q.rows, width: q.width, slot: Slot{Offset: q.at, Bytes: q.rows * q.width, RowStride: q.pitch}}
		}
		if got := shareByte(slot(test.a), slot(test.b)); got != test.want {
			t.Errorf("the checker: %+v and %+v: %t", test.a, test.b, got)
		}
	}
}
