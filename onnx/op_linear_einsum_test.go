package onnx

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/berth-go/berth"
)

// TestEinsumRandom compares equations with the plain sum over all their
// indices. Any axis may have the extent 1 in place of that of its label.
func TestEinsumRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	const labels = "ijkl"
	cases := make([]nodeTest, 300)
	for n := range cases {
		// The widest extent of each label, 0 where no operand has it.
		extents := make([]int, len(labels))
		terms := make([]string, 1+rng.IntN(3))
		operands := make([]plainTensor, len(terms))
		inputs := make(in, len(terms))
		for i := range terms {
			var x plainTensor
			for _, l := range rng.Perm(len(labels))[:rng.IntN(len(labels))] {
				terms[i] += labels[l : l+1]
				extent := 1
				if rng.IntN(3) > 0 {
					extent = 2 + l%2
				}
				extents[l] = max(extents[l], extent)
				x.axes = append(x.axes, l)
				x.dims = append(x.dims, extent)
			}
			x.data = make([]float64, x.size())
			for k := range x.data {
				x.data[k] = float64(rng.IntN(7) - 3)
			}
			operands[i] = x
			inputs[i] = x.tensor()
		}
		var out plainTensor
		term := ""
		for _, l := range rng.Perm(len(labels)) {
			if extents[l] > 0 && rng.IntN(2) == 0 {
				term += labels[l : l+1]
				out.axes = append(out.axes, l)
				out.dims = append(out.dims, extents[l])
			}
		}
		out.data = make([]float64, out.size())
		index := make([]int, len(labels))
		for more := true; more; more = advance(index, extents) {
			product := 1.0
			for _, x := range operands {
				product *= x.data[x.at(index)]
			}
			out.data[out.at(index)] += product
		}
		equationText := strings.Join(terms, ",") + "->" + term
		name := equationText
		for _, x := range operands {
			name += fmt.Sprint(" ", x.dims)
		}
		cases[n] = nodeTest{name, "Einsum", 12, attrs(attrText("equation", equationText)), inputs, in{out.tensor()}, ""}
	}
	runNodeTests(t, cases)
}

// A plainTensor is a row-major tensor whose axes are numbered labels.
type plainTensor struct {
	axes, dims []int
	data       []float64
}

func (x plainTensor) size() int {
	n := 1
	for _, d := range x.dims {
		n *= d
	}
	return n
}

// at returns the place of the element at the indices of all labels. An extent
// of 1 has one element for every index.
func (x plainTensor) at(index []int) int {
	place := 0
	for axis, l := range x.axes {
		place *= x.dims[axis]
		if x.dims[axis] > 1 {
			place += index[l]
		}
	}
	return place
}

func (x plainTensor) tensor() *berth.Tensor {
	if len(x.dims) == 0 {
		return scalarOf(berth.Float32, x.data[0])
	}
	return f32(x.data, x.dims...)
}

// advance moves index to the next one below extents, in row-major order. It
// returns false after the last one.
func advance(index, extents []int) bool {
	for l := len(index) - 1; l >= 0; l-- {
		if index[l]++; index[l] < extents[l] {
			return true
		}
		index[l] = 0
	}
	return false
}
