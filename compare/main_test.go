package main

import (
	"bytes"
	"errors"
	"regexp"
	"testing"

	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/onnx"
)

// TestGenerators wants each operator of Berth drawn, or the reason why it is not.
func TestGenerators(t *testing.T) {
	known := make(map[string]bool)
	for _, o := range onnx.Operators() {
		known[o.Name] = true
		left := false
		for pattern := range undrawn {
			left = left || regexp.MustCompile("^("+pattern+")$").MatchString(o.Name)
		}
		if _, drawn := generators[o.Name]; drawn == left {
			t.Errorf("%s is drawn: %v, left out: %v", o.Name, drawn, left)
		}
	}
	for name := range generators {
		if !known[name] {
			t.Errorf("%s is drawn, and Berth does not have it", name)
		}
	}
}

// TestDraw wants models that Berth reads, and the same ones from the same seed.
func TestDraw(t *testing.T) {
	for name, g := range generators {
		for i := range 5 {
			d := drawCase(name, g, 7, i)
			if _, err := onnx.Parse(d.model()); err != nil {
				t.Errorf("%v: %v", d, err)
			}
			if again := drawCase(name, g, 7, i); !bytes.Equal(again.model(), d.model()) || again.String() != d.String() {
				t.Errorf("%v is drawn as %v again", d, again)
			}
		}
	}
}

func TestDiffer(t *testing.T) {
	tensor := func(t wire.DataType, v ...float64) *wire.Tensor {
		x := &wire.Tensor{DataType: t, Dims: []int64{int64(len(v))}}
		for _, e := range v {
			x.Raw = appendElement(x.Raw, t, e)
		}
		return x
	}
	for _, c := range []struct {
		got, want *wire.Tensor
		tol       tolerance
		kind      string
	}{
		{tensor(wire.Float, 1, 2), tensor(wire.Float, 1, 2), exact, ""},
		{nil, tensor(wire.Float, 1), exact, "output"},
		{tensor(wire.Float, 1), tensor(wire.Double, 1), exact, "type"},
		{tensor(wire.Float, 1), tensor(wire.Float, 1, 2), exact, "shape"},
		{tensor(wire.Int64, 1), tensor(wire.Int64, 2), exact, "step"},
		{tensor(wire.Int64, 1), tensor(wire.Int64, 2), step, ""},
		{tensor(wire.Int64, 1<<53+1), tensor(wire.Int64, 1<<53+3), step, "values"},
		{tensor(wire.Float, 1), tensor(wire.Float, 1+0x1p-20), elementwise, ""},
		{tensor(wire.Float, 1), tensor(wire.Float, 1.1), elementwise, "values"},
		{tensor(wire.Float, 1e-9), tensor(wire.Float, 0), elementwise, "absolute"},
		{tensor(wire.Float, 1e-6, 100), tensor(wire.Float, 0, 100), sums, ""},
		{tensor(wire.Double, 1), tensor(wire.Double, 1+1e-9), elementwise, "single"},
	} {
		if kind, detail := differ(c.tol, c.got, c.want); kind != c.kind {
			t.Errorf("%v and %v: %q (%s), want %q", c.got, c.want, kind, detail, c.kind)
		}
	}
}

// TestSkips wants what is not there named, and not taken for a failure.
func TestSkips(t *testing.T) {
	err := compare(t.Context(), []string{"-ort", t.TempDir()}, new(bytes.Buffer), new(bytes.Buffer))
	if !errors.As(err, new(missing)) {
		t.Errorf("%v is not about something missing", err)
	}
	if err := compare(t.Context(), []string{"-run", "("}, new(bytes.Buffer), new(bytes.Buffer)); err == nil || errors.As(err, new(missing)) {
		t.Errorf("%v is not about wrong usage", err)
	}
}
