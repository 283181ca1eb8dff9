package kernel

// NewTile returns a kernel that repeats its input along every axis, for
// elements of the given width in bytes. Both operands may have any strides.
// It equals the loop
//
//	for each index i of out: out[i] = in[i[a] mod in.shape[a] on every axis a]
func NewTile(width int) Kernel {
	return ofWidth(width, &tileKernel[uint8]{}, &tileKernel[uint16]{}, &tileKernel[uint32]{}, &tileKernel[uint64]{})
}

// tileKernel is a copy between layouts of twice the rank: every axis is split
// into repeats, which the input does not step along, and elements.
type tileKernel[T word] struct {
	in, out         *Operand
	move            mover[T]
	shape, to, from []int
}

func (k *tileKernel[T]) Bind(in, out []*Operand) {
	k.in, k.out = in[0], out[0]
	k.shape, k.to, k.from = k.shape[:0], k.to[:0], k.from[:0]
	for a, d := range k.in.Shape {
		step := k.out.Strides[a]
		k.shape = append(k.shape, k.out.Shape[a]/max(d, 1), d)
		k.to = append(k.to, step*d, step)
		k.from = append(k.from, 0, k.in.Strides[a])
	}
	k.move.bind(k.shape, k.to, k.from)
}

func (k *tileKernel[T]) Tasks() int   { return k.move.tasks }
func (k *tileKernel[T]) Scratch() int { return k.move.scratch() }

func (k *tileKernel[T]) Run(task int, scratch []byte) error {
	k.move.run(task, Slice[T](k.out), k.out.Offset, Slice[T](k.in), k.in.Offset, scratch)
	return nil
}
