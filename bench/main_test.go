package main

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestMedianAndFastest(t *testing.T) {
	list := []latency{{Min: 3, Median: 9}, {Min: 1, Median: 4}, {Min: 2, Median: 5}, {Min: 4, Median: 20}}
	if got := median(list[:3]); got != 5 {
		t.Errorf("the median of three is %v, want 5", got)
	}
	if got := median(list); got != 7 {
		t.Errorf("the median of four is %v, want 7", got)
	}
	if got := geometricMean([]float64{0.5, 2, 8}); math.Abs(got-2) > 1e-12 {
		t.Errorf("the geometric mean is %v, want 2", got)
	}
	if got := fastest(list); got != 1 {
		t.Errorf("the fastest is %v, want 1", got)
	}
}

// TestSkips wants what is not there named, and not taken for a failure.
func TestSkips(t *testing.T) {
	for _, args := range [][]string{
		{"-shared", t.TempDir(), "-ort", t.TempDir()},
		{"-shared", "does-not-exist"},
	} {
		err := compare(t.Context(), args, new(bytes.Buffer), new(bytes.Buffer))
		if !errors.As(err, new(missing)) {
			t.Errorf("%v: %v is not about something missing", args, err)
		}
	}
	for _, args := range [][]string{{"-threads", "0"}, {"-threads", "1,x"}, {"-rounds", "0"}, {"-run", "("}} {
		err := compare(t.Context(), args, new(bytes.Buffer), new(bytes.Buffer))
		if err == nil || errors.As(err, new(missing)) {
			t.Errorf("%v: %v is not about wrong usage", args, err)
		}
	}
}

func TestRow(t *testing.T) {
	var out strings.Builder
	r := result{benchCase: benchCase{name: "net", note: "1×3"}, threads: 2,
		berth: []latency{{Min: 3, Median: 6}}, ort: []latency{{Min: 2, Median: 3}}}
	r.print(&out)
	if want := "| net | 1×3 | 2 | 3.00 | 6.00 | 2.00 | 1.50 |\n"; out.String() != want {
		t.Errorf("got  %swant %s", out.String(), want)
	}
}
