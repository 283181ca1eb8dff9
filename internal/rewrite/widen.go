package rewrite

import (
	"context"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// widen has an op without arithmetic for float16 and bfloat16 compute in
// float32, between casts.
//
//	half ── op ── half   ->   half ── cast ── op ── cast ── half
func widen(_ context.Context, r *graph.Rewriter, _ *Options) error {
	wide := make(map[graph.Value]graph.Value) // what has several readers is cast once
	return r.Walk(func(n *graph.Node) error {
		if _, ok := n.Op().(op.Widener); !ok {
			return nil
		}
		ins, halves := r.Inputs(n), 0
		for i, v := range ins {
			if !v.Type().DType.IsHalf() {
				continue
			}
			halves++
			if _, known := wide[v]; !known {
				cast, err := elementwise.CastTo(v, dtype.Float32)
				if err != nil {
					return err
				}
				wide[v] = cast
			}
			ins[i] = wide[v]
		}
		if halves == 0 {
			return nil
		}
		by, err := graph.New(n.Op(), ins...)
		if err != nil {
			return err
		}
		by.WithLabel(n.Label())
		for i := range n.NumOutputs() {
			narrow, err := elementwise.CastTo(by.Output(i), n.Output(i).Type().DType)
			if err != nil {
				return err
			}
			r.Replace(n.Output(i), narrow)
		}
		return nil
	})
}
