package view

import (
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/shape"
)

// Split cuts an axis of x, counted from 0, into parts of the given extents, which
// must add up to that of the axis.
func Split(x graph.Value, axis int, parts []int) ([]graph.Value, error) {
	extent := x.Type().Shape[axis]
	wrong := fmt.Errorf("parts %v do not add up to the extent %d of axis %d", parts, extent, axis)
	rest, outs := extent, make([]graph.Value, len(parts))
	for i, n := range parts {
		if n < 0 || n > rest {
			return nil, wrong
		}
		part, err := graph.New(SliceView{Axis: axis, Start: extent - rest, N: n, Step: 1}, x)
		if err != nil {
			return nil, err
		}
		outs[i] = part.Output(0)
		rest -= n
	}
	if rest > 0 {
		return nil, wrong
	}
	return outs, nil
}

// DepthToSpace spreads the channels of x, [N, C, H, W], over blocks of the
// given size: the result is [N, C/block², H*block, W*block]. Channels are
// taken as [block, block, C/block²] or, when columnsFirst is set, as
// [C/block², block, block]; ONNX calls these modes DCR and CRD.
func DepthToSpace(x graph.Value, block int, columnsFirst bool) (graph.Value, error) {
	s, err := blocks("depth_to_space", x, block)
	if err != nil {
		return graph.Value{}, err
	}
	n, c, h, w := s[0], s[1], s[2], s[3]
	// Dividing twice keeps a huge block from overflowing.
	if c%block != 0 || c/block%block != 0 {
		return graph.Value{}, fmt.Errorf("depth_to_space: %d channels of %v do not divide into blocks of %d x %d", c, x.Type(), block, block)
	}
	depth := c / block / block
	split, perm := []int{n, block, block, depth, h, w}, []int{0, 3, 4, 1, 5, 2}
	if columnsFirst {
		split, perm = []int{n, depth, block, block, h, w}, []int{0, 1, 4, 2, 5, 3}
	}
	if c == 0 {
		// Without channels nothing else keeps the extents in range.
		if err := (shape.Shape{h, block}).Check(); err != nil {
			return graph.Value{}, fmt.Errorf("depth_to_space: %w", err)
		}
		if err := (shape.Shape{w, block}).Check(); err != nil {
			return graph.Value{}, fmt.Errorf("depth_to_space: %w", err)
		}
	}
	return regroup(x, split, perm, []int{n, depth, h * block, w * block})
}

// SpaceToDepth moves blocks of the given size of x, [N, C, H, W], into the
// channels: the result is [N, block*block*C, H/block, W/block].
func SpaceToDepth(x graph.Value, block int) (graph.Value, error) {
	s, err := blocks("space_to_depth", x, block)
	if err != nil {
		return graph.Value{}, err
	}
	n, c, h, w := s[0], s[1], s[2], s[3]
	if h%block != 0 || w%block != 0 {
		return graph.Value{}, fmt.Errorf("space_to_depth: %v does not divide into blocks of %d x %d", x.Type(), block, block)
	}
	if err := (shape.Shape{c, block, block}).Check(); err != nil {
		return graph.Value{}, fmt.Errorf("space_to_depth: %w", err)
	}
	return regroup(x, []int{n, c, h / block, block, w / block, block}, []int{0, 3, 5, 1, 2, 4},
		[]int{n, c * block * block, h / block, w / block})
}

func blocks(name string, x graph.Value, block int) (shape.Shape, error) {
	s := x.Type().Shape
	if len(s) != 4 {
		return nil, fmt.Errorf("%s: %v has %d axes, want 4", name, x.Type(), len(s))
	}
	if block < 1 {
		return nil, fmt.Errorf("%s: block size %d, want at least 1", name, block)
	}
	return s, nil
}

// regroup splits axes, permutes them and joins them again.
func regroup(x graph.Value, split, perm, join []int) (graph.Value, error) {
	v := x
	for _, o := range []graph.Op{Reshape{split}, Permute{perm}, Reshape{join}} {
		n, err := graph.New(o, v)
		if err != nil {
			return graph.Value{}, err
		}
		v = n.Output(0)
	}
	return v, nil
}
