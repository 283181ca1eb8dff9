package pack

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestCheckFaults damages one good placement in each way there is.
func TestCheckFaults(t *testing.T) {
	buffers := []Buffer{
		{ID: "low", Start: 0, End: 4, Size: 8},
		{ID: "high", Start: 2, End: 6, Size: 8, Align: 4},
		{ID: "stair", Start: 0, End: 6, Size: 8, Parts: []Part{{0, 3, 0, 4}, {3, 6, 0, 8}}},
		{ID: "nailed", Start: 0, End: 6, Size: 4, Fixed: true, Offset: 24},
		{ID: "empty", Start: 0, End: 6},
	}
	good := []int64{0, 8, 16, 24, 5}
	for _, c := range []struct {
		name     string
		damage   func([]int64) []int64
		capacity int64
		fault    Fault
		a, b     int
		text     string
	}{
		{"too few", func(o []int64) []int64 { return o[:4] }, 0, FaultCount, -1, -1, "4 offsets for 5 buffers"},
		{"too many", func(o []int64) []int64 { return append(o, 0) }, 0, FaultCount, -1, -1, "6 offsets for 5 buffers"},
		{"negative", func(o []int64) []int64 { o[0] = -1; return o }, 0, FaultNegative, 0, -1, `"low"`},
		{"misaligned", func(o []int64) []int64 { o[1] = 10; return o }, 0, FaultMisaligned, 1, -1, "no multiple of 4"},
		{"moved", func(o []int64) []int64 { o[3] = 28; return o }, 0, FaultMoved, 3, -1, "fixed at 24"},
		{"beyond the capacity", func(o []int64) []int64 { return o }, 27, FaultOutside, 3, -1, "ends at 28"},
		{"beyond 64 bits", func(o []int64) []int64 { o[0] = math.MaxInt64 - 3; return o }, 0, FaultOutside, 0, -1, "64 bits"},
		{"empty, outside", func(o []int64) []int64 { o[4] = 29; return o }, 28, FaultOutside, 4, -1, `"empty"`},
		{"overlap", func(o []int64) []int64 { o[1] = 4; return o }, 0, FaultOverlap, 0, 1, "[4, 8) during [2, 4)"},
		{"overlap with a part", func(o []int64) []int64 { o[2] = 9; return o }, 0, FaultOverlap, 1, 2, "[9, 13) during [2, 3)"},
		{"overlap by one byte", func(o []int64) []int64 { o[2] = 15; return o }, 0, FaultOverlap, 1, 2, "[15, 16)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Check(buffers, c.damage(slices.Clone(good)), c.capacity)
			var fe *FaultError
			if !errors.As(err, &fe) {
				t.Fatalf("error %v", err)
			}
			if fe.Fault != c.fault || fe.A != c.a || fe.B != c.b || !strings.Contains(fe.Error(), c.text) {
				t.Errorf("%#v: %v", fe, fe)
			}
		})
	}
	for _, capacity := range []int64{0, 28} {
		if err := Check(buffers, good, capacity); err != nil {
			t.Errorf("capacity %d: %v", capacity, err)
		}
	}
	if err := Check([]Buffer{{Start: 2, End: 2}}, []int64{0}, 0); !errors.As(err, new(*BufferError)) {
		t.Errorf("an empty lifetime: %v", err)
	}
	// The low half of a stair's first step is taken, the high half is free.
	if err := Check(buffers[:3], []int64{24, 20, 16}, 0); err == nil {
		t.Error("the second step of the stair collides, unnoticed")
	}
	if err := Check([]Buffer{buffers[2], {Start: 0, End: 3, Size: 4}}, []int64{0, 4}, 8); err != nil {
		t.Errorf("above the first step of the stair: %v", err)
	}
}

// TestVerifyAgrees compares the fast check with the obvious one, on placements
// good and bad.
func TestVerifyAgrees(t *testing.T) {
	verdicts := map[bool]int{}
	for name, shape := range shapes {
		rng := rand.New(rand.NewPCG(31, uint64(len(name))))
		for range 3000 {
			buffers := shape.random(rng)
			p, err := newProblem(buffers)
			if err != nil {
				t.Fatal(err)
			}
			offsets := make([]int64, len(buffers))
			for i := range offsets {
				offsets[i] = rng.Int64N(12) - rng.Int64N(2)
				if b := buffers[i]; b.Fixed {
					offsets[i] = b.Offset
				} else if b.Align > 1 && rng.IntN(4) > 0 {
					offsets[i] = offsets[i] / b.Align * b.Align
				}
			}
			canonical := make([]int64, len(buffers))
			for i, in := range p.inputs {
				canonical[i] = offsets[in]
			}
			want, got := Check(buffers, offsets, 0), p.verify(canonical)
			if (want == nil) != (got == nil) {
				t.Fatalf("check says %v, verify %v\n%+v\n%v", want, got, buffers, offsets)
			}
			verdicts[want == nil]++
		}
	}
	if verdicts[true] < 500 || verdicts[false] < 500 {
		t.Errorf("one-sided: %v", verdicts)
	}
}
