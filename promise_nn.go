package berth

import (
	"slices"

	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/pool"
)

// MatMul returns the matrix product over the last two axes; the axes before
// them broadcast. A single axis stands for a row on the left and for a column
// on the right, and is gone from the result.
func (p *Promise) MatMul(q *Promise) *Promise { return apply(linear.MatMul{}, p, q) }

// Softmax returns exp(p) divided by its sum along an axis.
func (p *Promise) Softmax(axis int) *Promise { return apply(norm.Softmax{Axis: axis}, p) }

// LogSoftmax returns the logarithm of Softmax.
func (p *Promise) LogSoftmax(axis int) *Promise {
	return apply(norm.Softmax{Axis: axis, Log: true}, p)
}

// LayerNorm returns p with mean 0 and variance 1 over the axes from the given
// one on, times scale plus bias, which have the shape of these axes; bias may
// be nil.
func (p *Promise) LayerNorm(axis int, scale, bias *Promise, epsilon float64) *Promise {
	operands := []*Promise{p, scale}
	if bias != nil {
		operands = append(operands, bias)
	}
	return apply(norm.LayerNorm{Axis: axis, Epsilon: epsilon}, operands...)
}

// BatchNorm returns (p - mean) / sqrt(variance + epsilon) * scale + bias. Axis
// 1 of p is that of the channels, for each of which the others have an element.
func (p *Promise) BatchNorm(scale, bias, mean, variance *Promise, epsilon float64) *Promise {
	return apply(norm.BatchNorm{Epsilon: epsilon}, p, scale, bias, mean, variance)
}

// A Window says how a window moves over the spatial axes of a tensor, those
// after the batch and the channels. Each list has a number for each spatial
// axis; an empty one stands for 1, or for 0 in Pads.
type Window struct {
	Strides   []int
	Pads      []int // before each axis, then behind each
	Dilations []int
}

func (w Window) clone() Window {
	return Window{slices.Clone(w.Strides), slices.Clone(w.Pads), slices.Clone(w.Dilations)}
}

// ConvOptions are the attributes of a convolution. The zero value, and nil,
// move a dense window by one, without padding, in one group of channels.
type ConvOptions struct {
	Window
	Groups int // of channels; 0 means 1
}

// Conv returns the cross-correlation of p, [N, C, spatial...], with weights,
// [M, C/groups, window...], plus bias, [M], which may be nil. There may be any
// number of spatial axes; one and two are the fast cases.
func (p *Promise) Conv(weights, bias *Promise, opt *ConvOptions) *Promise {
	if opt == nil {
		opt = &ConvOptions{}
	}
	operands := []*Promise{p, weights}
	if bias != nil {
		operands = append(operands, bias)
	}
	w := opt.Window.clone()
	return apply(conv.Conv{
		Strides: w.Strides, Pads: w.Pads, Dilations: w.Dilations, Group: opt.Groups,
	}, operands...)
}

// PoolOptions are the attributes of a pooling. The zero value, and nil, move
// a dense window by one, without padding.
type PoolOptions struct {
	Window
	// CeilMode lets a last window reach past the end of an axis.
	CeilMode bool
	// CountPadding makes an average count the padding as zeros.
	CountPadding bool
}

// MaxPool returns the largest element of each window of p, [N, C, spatial...].
func (p *Promise) MaxPool(window []int, opt *PoolOptions) *Promise {
	return p.pool(pool.Max, window, opt)
}

// AveragePool returns the mean of each window of p, [N, C, spatial...].
func (p *Promise) AveragePool(window []int, opt *PoolOptions) *Promise {
	return p.pool(pool.Average, window, opt)
}

func (p *Promise) pool(kind pool.Kind, window []int, opt *PoolOptions) *Promise {
	if opt == nil {
		opt = &PoolOptions{}
	}
	w := opt.Window.clone()
	return apply(pool.Pool{
		Kind: kind, KernelShape: slices.Clone(window), Strides: w.Strides, Pads: w.Pads, Dilations: w.Dilations,
		CeilMode: opt.CeilMode, CountIncludePad: opt.CountPadding,
	}, p)
}
