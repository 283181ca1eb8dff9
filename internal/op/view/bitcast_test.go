package view_test

import (
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// TestBitcast checks which element types it takes; the bits are those of its
// input, since it is a view of the same layout.
func TestBitcast(t *testing.T) {
	for _, from := range dtype.All() {
		for _, to := range dtype.All() {
			in := graph.Type{DType: from, Shape: shape.Shape{2, 0, 3}}
			out, err := view.Bitcast{To: to}.Infer([]graph.Type{in})
			want := from.Size() == to.Size() && (from == dtype.Bool) == (to == dtype.Bool)
			switch {
			case (err == nil) != want:
				t.Errorf("%v to %v: error %v", from, to, err)
			case err == nil && !out[0].Equal(graph.Type{DType: to, Shape: in.Shape}):
				t.Errorf("%v to %v gives %v", from, to, out)
			}
		}
	}
	x := graph.Type{DType: dtype.Float32, Shape: shape.Shape{2}}
	if _, err := (view.Bitcast{}).Infer([]graph.Type{x}); err == nil || !strings.Contains(err.Error(), "not an element type") {
		t.Errorf("no type: %v", err)
	}
	if _, err := (view.Bitcast{To: dtype.Int32}).Infer(nil); err == nil {
		t.Error("no input is accepted")
	}
	l := shape.Layout{Shape: shape.Shape{2, 3}, Strides: []int{-1, 5}, Offset: 9}
	if got, ok := (view.Bitcast{To: dtype.Int32}).View(l); !ok || !got.Equal(l) {
		t.Errorf("the view of %v is %v, %v", l, got, ok)
	}
}
