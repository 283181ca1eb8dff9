package norm

import (
	"slices"

	"github.com/berth-go/berth/internal/kernel"
)

// channels is operands of one shape taken apart along axis 1, that of the channels.
// Operands with a single axis have one channel.
type channels struct {
	n      int
	across []int       // stride from channel to channel, for each operand
	rest   kernel.Walk // over the other axes

	shape   []int
	strides [][]int
}

// bind takes operands of the given shape apart, with one list of strides for each.
// Nothing of the arguments is kept.
func (c *channels) bind(shape []int, strides ...[]int) {
	c.n, c.across = 1, c.across[:0]
	c.shape = append(c.shape[:0], shape...)
	if len(shape) > 1 {
		c.n, c.shape = shape[1], slices.Delete(c.shape, 1, 2)
	}
	c.strides = slices.Grow(c.strides[:0], len(strides))[:len(strides)]
	for k, s := range strides {
		c.strides[k] = append(c.strides[k][:0], s...)
		step := 0
		if len(shape) > 1 {
			step, c.strides[k] = s[1], slices.Delete(c.strides[k], 1, 2)
		}
		c.across = append(c.across, step)
	}
	c.rest.Bind(c.shape, c.strides...)
}
