// Package optest checks ops: what they infer, what they compute, and which
// inputs they refuse.
package optest

import (
	"encoding"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/slide"
)

// Most is the largest attribute of a window.
const Most = slide.MaxAttribute

// Scalar returns the scalar that text states, such as "2:float32".
func Scalar(t *testing.T, text string) kernel.Scalar {
	t.Helper()
	s, err := kernel.ParseScalar(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Type returns a type of the given extents.
func Type(t dtype.Type, dims ...int) graph.Type { return graph.Type{DType: t, Shape: dims} }

// Float32 returns a float32 type of the given extents.
func Float32(dims ...int) graph.Type { return Type(dtype.Float32, dims...) }

// Infers checks that o takes inputs of the types in and gives outputs of the
// types want, as printed and apart by spaces; and that it has a kernel for
// them, but for half types that are computed in float32.
func Infers(t *testing.T, o op.Computer, in []graph.Type, want string) {
	t.Helper()
	out, err := o.Infer(in)
	if err != nil {
		t.Errorf("%s%+v of %v: %v", o.Name(), o, in, err)
		return
	}
	words := []string{}
	for _, typ := range out {
		words = append(words, typ.String())
	}
	if got := strings.Join(words, " "); got != want {
		t.Errorf("%s%+v of %v gives %s, want %s", o.Name(), o, in, got, want)
	}
	if _, widened := o.(op.Widener); widened && in[0].DType.IsHalf() {
		return
	}
	if o.Kernel(in, out) == nil {
		t.Errorf("%s%+v of %v has no kernel", o.Name(), o, in)
	}
}

// Refuses checks that o does not take inputs of the types in, with an error
// that contains part.
func Refuses(t *testing.T, o op.Computer, in []graph.Type, part string) {
	t.Helper()
	out, err := o.Infer(in)
	if err == nil {
		t.Errorf("%s%+v of %v gives %v, want an error with %q", o.Name(), o, in, out, part)
	} else if !strings.Contains(err.Error(), part) {
		t.Errorf("%s%+v of %v: error %q, want %q in it", o.Name(), o, in, err, part)
	}
}

// Enum checks the text forms of an enumeration among the attributes: that the
// constants from 0 to last come back from their names, and that neither the
// number behind last nor an unknown name is taken for a constant.
func Enum[T ~uint8, P interface {
	*T
	encoding.TextUnmarshaler
}](t *testing.T, last T) {
	t.Helper()
	marshal := func(v T) ([]byte, error) { return any(v).(encoding.TextMarshaler).MarshalText() }
	for v := T(0); v <= last; v++ {
		text, err := marshal(v)
		if err != nil || string(text) != fmt.Sprint(v) {
			t.Errorf("constant %d, which prints as %v, has the text %q, error %v", uint8(v), v, text, err)
		}
		back := last + 1
		if err := P(&back).UnmarshalText(text); err != nil || back != v {
			t.Errorf("%v comes back from %q as %v, error %v", v, text, back, err)
		}
	}
	if text, err := marshal(last + 1); err == nil {
		t.Errorf("there is no constant %d, but its text is %q", uint8(last+1), text)
	}
	back := last
	if err := P(&back).UnmarshalText([]byte("no such name")); err == nil || back != last {
		t.Errorf("an unknown name gives %v, error %v", back, err)
	}
}
