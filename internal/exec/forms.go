package exec

import (
	"sync"
	"weak"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/intern"
	"github.com/berth-go/berth/internal/kernel"
)

// A form is a constant in the prepacked form of a kernel. All programs that read the
// same constant in the same form share it, and it goes with the last of them.
type form struct {
	size int

	mu   sync.Mutex
	data []byte // size bytes, once there is an instance of a program that reads it
}

// A formKey is what the bytes of a form follow from.
type formKey struct {
	// leaf is the constant. A weak pointer to it is equal to none to a constant that
	// comes to lie at the same address.
	leaf   weak.Pointer[graph.Leaf]
	dtype  dtype.Type
	layout string // shape, strides and offset of the operand
	form   string // see [kernel.Prepacker]
}

// forms are those that any program reads.
var forms = intern.New[formKey, form]()

// formOf returns the form of a key.
func formOf(key formKey, size int) *form {
	f, _ := forms.Get(key, func() (*form, error) { return &form{size: size}, nil })
	return f
}

// fill has prepack write the form, unless it is written already.
func (f *form) fill(prepack func(dst []byte) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.data != nil {
		return nil
	}
	data := kernel.Alloc(f.size)
	if err := prepack(data); err != nil {
		return err
	}
	f.data = data
	return nil
}
