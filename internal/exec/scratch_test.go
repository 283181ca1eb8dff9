package exec

import (
	"fmt"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/shape"
)

// hungry is a copy whose kernel takes most memory at one pair of extents.
type hungry struct{ Rows, Cols int }

func (hungry) Name() string { return "hungry" }

func (hungry) Infer(in []graph.Type) ([]graph.Type, error) { return in, nil }

func (h hungry) Kernel(in, _ []graph.Type) kernel.Kernel {
	return &hungryKernel{Kernel: kernel.NewCopy(in[0].DType.Size()), at: h}
}

type hungryKernel struct {
	kernel.Kernel
	at   hungry
	more bool
}

func (k *hungryKernel) Bind(in, out []*kernel.Operand) {
	k.Kernel.Bind(in, out)
	k.more = in[0].Shape[0] == k.at.Rows && in[0].Shape[1] == k.at.Cols
}

func (k *hungryKernel) Scratch() int {
	if k.more {
		return 1 << 20
	}
	return k.Kernel.Scratch()
}

// TestScratchOfSmallerExtents: the memory set aside is enough for a kernel that
// needs most of it at other extents than the largest, for one dimension and for
// two.
func TestScratchOfSmallerExtents(t *testing.T) {
	for _, c := range []struct {
		at   hungry
		dims []extent.Dim // rows, or rows and columns
	}{
		{hungry{1, 3}, []extent.Dim{{Name: "rows", Min: 1, Max: 4}}},
		{hungry{7, 3}, []extent.Dim{{Name: "rows", Min: 5, Max: 9}}},
		{hungry{4, 3}, []extent.Dim{{Name: "rows", Min: 1, Max: 4}}},
		{hungry{777, 3}, []extent.Dim{{Name: "rows", Min: 1, Max: 5000}}},
		{hungry{2047, 3}, []extent.Dim{{Name: "rows", Min: 1, Max: 5000}}},
		{hungry{4096, 3}, []extent.Dim{{Name: "rows", Min: 1, Max: 5000}}},
		{hungry{4097, 3}, []extent.Dim{{Name: "rows", Min: 1, Max: 5000}}},
		{hungry{5000, 3}, []extent.Dim{{Name: "rows", Min: 1, Max: 5000}}},
		{hungry{3, 5}, []extent.Dim{{Name: "rows", Min: 1, Max: 6}, {Name: "cols", Min: 1, Max: 40}}},
		{hungry{32, 19}, []extent.Dim{{Name: "rows", Min: 1, Max: 40}, {Name: "cols", Min: 1, Max: 40}}},
		{hungry{2, 33}, []extent.Dim{{Name: "rows", Min: 1, Max: 40}, {Name: "cols", Min: 1, Max: 40}}},
	} {
		t.Run(fmt.Sprintf("%+v of %v", c.at, c.dims), func(t *testing.T) {
			build := func(p extent.Point) (outputs, inputs []graph.Value, err error) {
				s := shape.Shape{p[0], 3}
				if len(p) > 1 {
					s[1] = p[1]
				}
				x, err := graph.NewInput("x", graph.Type{DType: dtype.Float32, Shape: s})
				if err != nil {
					return nil, nil, err
				}
				y, err := ops.One(c.at, x.Output(0))
				return []graph.Value{y}, nil, err
			}
			p := must(compile.Compile(t.Context(), []string{"y"}, c.dims, build, Evaluate, compile.Options{}))
			inst := must(must(Prepare(p, true)).NewInstance(1, true))
			defer inst.Close()
			point := extent.Point{c.at.Rows, c.at.Cols}[:len(c.dims)]
			size := c.at.Rows * c.at.Cols * p.Inputs[0].Type.DType.Size()
			inst.BindInput(0, kernel.Alloc(size))
			inst.BindOutput(0, kernel.Alloc(size))
			if err := inst.Run(t.Context(), point); err != nil {
				t.Error(err)
			}
		})
	}
}
