package main

import "github.com/berth-go/berth/internal/wire"

var recurrentGenerators = map[string]generator{"RNN": {7, recurrent(1)}, "GRU": {7, recurrent(3)}, "LSTM": {7, recurrent(4)}}

func recurrent(gates int64) func(d *draw) {
	return func(d *draw) {
		d.bounded()
		d.tol = rough
		t := wire.Float
		seq, batch, in, hidden := d.full(), d.full(), d.full(), d.full()
		directions := int64(1)
		d.maybe(func() {
			direction := one(d, "forward", "reverse", "bidirectional")
			if direction == "bidirectional" {
				directions = 2
			}
			d.str("direction", direction)
		})
		d.int("hidden_size", hidden)
		d.maybe(func() { d.float("clip", one(d, 0.5, 3)) })
		d.maybe(func() {
			functions := map[int64]int64{1: 1, 3: 2, 4: 3}[gates]
			var names []string
			for range functions * directions {
				if gates == 1 {
					names = append(names, one(d, "Sigmoid", "Tanh", "Relu", "Softsign"))
				} else { // bounded, for the products of gates
					names = append(names, one(d, "Sigmoid", "Tanh", "Softsign"))
				}
			}
			d.strs("activations", names...)
		})
		if gates == 3 {
			d.maybe(func() { d.int("linear_before_reset", d.Int64N(2)) })
		}
		if gates == 4 {
			d.maybe(func() { d.int("input_forget", d.Int64N(2)) })
		}
		d.input(t, []int64{seq, batch, in})
		// Rounding errors must not grow from step to step.
		for _, n := range []int64{in, hidden} {
			d.add(numbersOf(t, []int64{directions, gates * hidden, n}, func() float64 { return d.NormFloat64() / 4 }), d.coin())
		}
		optional := func(t wire.DataType, dims ...int64) {
			if d.coin() {
				d.input(t, dims)
			} else {
				d.absent()
			}
		}
		optional(t, directions, 2*gates*hidden)
		if d.coin() {
			d.add(numbersOf(wire.Int32, []int64{batch}, func() float64 { return float64(1 + d.Int64N(seq)) }), false)
		} else {
			d.absent()
		}
		optional(t, directions, batch, hidden)
		if gates == 4 {
			optional(t, directions, batch, hidden)
			optional(t, directions, 3*hidden)
		}
		d.output(one(d, t, wire.Undefined), t)
		if gates == 4 {
			d.maybe(func() { d.output(t) })
		}
	}
}
