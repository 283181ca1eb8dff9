package compile

import (
	"fmt"
	"strings"

	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/internal/extent"
)

// dims returns the dimensions of the program as those of a circuit.
func (l *lowerer) dims() []circuit.Dim {
	var out []circuit.Dim
	for i, d := range l.prog.Space.Dims() {
		out = append(out, circuit.Dim{Name: dimName(i, d), Size: int64(d.Max)})
	}
	return out
}

// dimName returns a name of dimension i that a circuit takes: its own, if that is
// an identifier, and a number otherwise.
func dimName(i int, d extent.Dim) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r < 128 && ('a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9') {
			return r
		}
		return '_'
	}, d.Name)
	if name != d.Name || name == circuit.RowsName || '0' <= name[0] && name[0] <= '9' {
		return fmt.Sprintf("dim%d_%s", i, name)
	}
	return name
}

// expr returns f as a size of a circuit: itself, if it is made of what a circuit
// knows and never falls as a dimension grows, and otherwise a bound of it.
func (l *lowerer) expr(f extent.Func) circuit.Expr {
	if e, ok := l.sized(f); ok {
		return e
	}
	_, most := l.prog.Space.Range(f)
	return circuit.Const(int64(max(most, 0)))
}

func (l *lowerer) sized(f extent.Func) (circuit.Expr, bool) {
	form := l.prog.Space.Form(f)
	switch form.Kind {
	case extent.Constant:
		return circuit.Const(int64(form.C)), form.C >= 0
	case extent.Variable:
		return circuit.Var(l.prog.Circuit.Dims[form.C].Name), true
	case extent.Sum, extent.Product:
		a, ok := l.sized(form.A)
		b, also := l.sized(form.B)
		if !ok || !also {
			return circuit.Expr{}, false
		}
		if form.Kind == extent.Sum {
			return circuit.Sum(a, b), true
		}
		return circuit.Product(a, b), true
	}
	return circuit.Expr{}, false
}
