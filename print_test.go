package berth_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-go/berth"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with a file of testdata, which -update rewrites.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs from what is printed (-file +printed):\n%s", file, diff)
	}
}

// TestPrint holds the printed form of tensors of every type and shape against
// a golden file.
func TestPrint(t *testing.T) {
	var out bytes.Buffer
	show := func(what string, x *berth.Tensor) { fmt.Fprintf(&out, "-- %s --\n%v\n", what, x) }

	odd := list([]float64{0, 1, 2, 100}, 4)
	for _, typ := range allTypes {
		show(typ.String(), odd.tensor(typ))
	}
	show("negative", list([]float64{-1, 20, -300}, 3).tensor(berth.Int64))
	show("fractions", list([]float64{0.1, -1.0 / 3, 1e-30, 12345678}, 4).tensor(berth.Float32))
	show("long fractions", list([]float64{math.Pi, 1e300}, 2).tensor(berth.Float64))
	show("halves round", list([]float64{0.1, 65504}, 2).tensor(berth.Float16))
	show("brain halves round", list([]float64{0.1, 65504}, 2).tensor(berth.BFloat16))
	show("no numbers", list([]float64{nan, inf, -inf, math.Copysign(0, -1)}, 4).tensor(berth.Float32))

	show("scalar", berth.Scalar(2.5))
	show("one element", ramp(1, 1, 1))
	show("no elements", must(berth.Zeros(berth.Float32, 0)))
	show("no rows", must(berth.Zeros(berth.Float32, 0, 3)))
	show("empty rows", must(berth.Zeros(berth.Float32, 2, 0)))
	show("a billion empty rows", must(berth.Zeros(berth.Float32, 1<<30, 0)))
	show("empty inside", must(berth.Zeros(berth.Bool, 2, 0, 3)))
	show("matrix", ramp(3, 4))
	show("transposed", must(ramp(3, 4).Transpose()))
	show("reversed", must(ramp(5).Slice(0, -1, -6, -1)))
	show("cube", ramp(2, 2, 3))
	show("repeated", must(berth.Full(int8(7), 2, 2)))

	// Up to 1000 elements are printed in full, of more only the ends.
	show("excerpt of an axis", ramp(1001))
	show("excerpt of a matrix", ramp(40, 40))
	show("excerpt with a short axis", ramp(2, 600))
	show("excerpt of six", ramp(6, 7, 200))
	show("excerpt of a trillion", must(berth.Full(1.5, 1<<20, 1<<20)))
	show("excerpt of a view", must(ramp(100, 100).Transpose()))
	binary := make([]int, 20)
	for i := range binary {
		binary[i] = 2
	}
	if n := len(must(berth.Full(1.5, binary...)).String()); n > 20000 {
		t.Errorf("a million elements on twenty axes take %d bytes", n)
	}
	if s := ramp(1000).String(); bytes.Contains([]byte(s), []byte("...")) {
		t.Error("1000 elements are not printed in full")
	}
	golden(t, "print.txt", out.Bytes())
}
