package elementwise

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/race"
)

// TestTable walks the table: every code over all element types that it takes,
// in every form in which its operands can lie, against its formula on single
// elements.
func TestTable(t *testing.T) {
	race.SkipSequential(t)
	for _, code := range Codes() {
		t.Run(code.String(), func(t *testing.T) {
			for _, args := range operandTypes(code) {
				for _, to := range castTargets(code) {
					newColumns(t, code, to, args).testForms()
				}
			}
		})
	}
}

// operandTypes lists the combinations of element types that a code takes.
func operandTypes(code Code) (combinations [][]dtype.Type) {
	for _, a := range dtype.All() {
		for _, b := range dtype.All() {
			args := []dtype.Type{a, b, b}[:code.Arity()]
			if _, err := code.Result(dtype.Bool, args...); err == nil {
				combinations = append(combinations, args)
			}
			if code.Arity() == 1 {
				break
			}
		}
	}
	return combinations
}

func castTargets(code Code) []dtype.Type {
	if code == Cast {
		return dtype.All()
	}
	return []dtype.Type{dtype.Invalid}
}

// columns are operands for one instruction, as many elements of each, and what
// is to come of them.
type columns struct {
	t      *testing.T
	rng    *rand.Rand
	ins    Instr
	types  []dtype.Type
	result dtype.Type
	args   [][]kernel.Scalar
	want   []kernel.Scalar
}

// newColumns combines samples of each type, but for what has no result.
func newColumns(t *testing.T, code Code, to dtype.Type, types []dtype.Type) *columns {
	result, err := code.Result(to, types...)
	if err != nil {
		t.Fatal(err)
	}
	c := &columns{t: t, rng: rand.New(rand.NewPCG(3, uint64(code))), ins: Instr{Code: code, To: to}, types: types, result: result, args: make([][]kernel.Scalar, len(types))}
	copy(c.ins.Attrs[:], code.Attrs())
	one, each := 1000, 20 // samples of the only operand, of each of several
	if fewSamples() {
		one, each = 100, 4
	}
	per := make([][]kernel.Scalar, len(types))
	for i, a := range types {
		c.ins.Args[i] = InputArg(i)
		switch {
		case code == Cast:
			per[i] = castSamples(c.rng, a)
		case len(types) == 1:
			per[i] = scalarSamples(c.rng, a, one)
		default:
			per[i] = scalarSamples(c.rng, a, each)
		}
	}
	var nest func(row []kernel.Scalar)
	nest = func(row []kernel.Scalar) {
		if n := len(row); n < len(types) {
			for _, s := range per[n] {
				nest(append(row[:n:n], s))
			}
			return
		}
		if len(types) == 3 && c.rng.IntN(8) != 0 || dividesByZero(code, row) {
			return
		}
		for i, s := range row {
			c.args[i] = append(c.args[i], s)
		}
		c.want = append(c.want, reference(c.ins, row))
	}
	nest(nil)
	return c
}

func dividesByZero(code Code, row []kernel.Scalar) bool {
	switch code {
	case Div, Mod, Fmod, FloorDiv:
		return row[1].DType.IsInteger() && row[1].Bits == 0
	case Pow:
		return row[0].DType.IsInteger() && row[0].Bits == 0 && row[1].DType.IsInteger() && row[1].Float64() < 0
	}
	return false
}

func (c *columns) testForms() {
	c.run("dense", c.ins, c.types, c.operands(0, len(c.want)), c.want)
	c.testStrided()
	if c.result != c.result.Wide() {
		c.testRounded()
	}
	for mask := 1; mask < 1<<len(c.types)-1; mask++ {
		rows := 12
		if fewSamples() {
			rows = 4
		}
		for range rows {
			c.testScalars(mask, c.rng.IntN(len(c.want)))
		}
	}
}

// operands returns the elements of all columns from one row to another, dense.
func (c *columns) operands(from, to int) (in []*kernel.Operand) {
	for i, t := range c.types {
		in = append(in, scalarVector(t, c.args[i][from:to]))
	}
	return in
}

// testStrided has operands with gaps, and then the result over each of them.
func (c *columns) testStrided() {
	n := len(c.want) / 2
	want := c.want[:2*n]
	strided := func() (in []*kernel.Operand) {
		for i, o := range c.operands(0, 2*n) {
			s := kerneltest.StridedOutput(c.rng, c.types[i], c.rng.IntN(2), 2, n)
			o.Shape, o.Strides = []int{2, n}, []int{n, 1}
			setElements(s, scalarsOf(o))
			in = append(in, s)
		}
		return in
	}
	c.compare("strided", c.kernel(c.ins, c.types), strided(), kerneltest.StridedOutput(c.rng, c.result, 0, 2, n), want)
	for i, t := range c.types {
		if t.Size() == c.result.Size() {
			in := strided()
			out := *in[i]
			out.DType = c.result
			c.compare(fmt.Sprintf("in place of operand %d", i), c.kernel(c.ins, c.types), in, &out, want)
		}
	}
}

// testRounded has another instruction read the result, which is to be rounded to
// its type before.
func (c *columns) testRounded() {
	in := c.operands(0, len(c.want))
	narrow, wide := kerneltest.Dense(c.result, len(c.want)), kerneltest.Dense(c.result.Wide(), len(c.want))
	widened, err := newKernel([]Instr{c.ins, {Code: Cast, To: c.result.Wide(), Args: [3]Arg{ResultArg(0)}}}, c.types)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := errors.Join(kerneltest.Run(c.rng, c.kernel(c.ins, c.types), in, []*kernel.Operand{narrow}),
		kerneltest.Run(c.rng, widened, in, []*kernel.Operand{wide})); err != nil {
		c.t.Fatal(err)
	}
	narrowed := scalarsOf(narrow)
	for i, got := range scalarsOf(wide) {
		if want := narrowed[i].Cast(c.result.Wide()); !withinUlps(got, want, 0) {
			c.t.Fatalf("%v gives %v, and is read as %v", Program{c.ins}, want, got)
		}
	}
}

// testScalars has those operands whose bits are set in mask as they are in a
// row: as constants of the program, and as inputs of one element.
func (c *columns) testScalars(mask, row int) {
	ins, types := c.ins, c.types
	var constants, broadcast []*kernel.Operand
	var left []dtype.Type
	var rows []int
	for r := range c.want {
		same := true
		for i := range types {
			same = same && (mask>>i&1 == 0 || c.args[i][r] == c.args[i][row])
		}
		if same {
			rows = append(rows, r)
		}
	}
	for i, t := range types {
		if mask>>i&1 != 0 {
			ins.Args[i] = ScalarArg(c.args[i][row])
			broadcast = append(broadcast, scalarVector(t, c.args[i][row:row+1]))
			continue
		}
		v := scalarVector(t, pick(c.args[i], rows))
		ins.Args[i] = InputArg(len(left))
		left, constants, broadcast = append(left, t), append(constants, v), append(broadcast, v)
	}
	want := pick(c.want, rows)
	c.run(fmt.Sprintf("constants %b", mask), ins, left, constants, want)
	c.run(fmt.Sprintf("scalars %b", mask), c.ins, types, broadcast, want)
}

func pick(all []kernel.Scalar, rows []int) (some []kernel.Scalar) {
	for _, r := range rows {
		some = append(some, all[r])
	}
	return some
}

func (c *columns) kernel(ins Instr, types []dtype.Type) *programKernel {
	k, err := newKernel([]Instr{ins}, types)
	if err != nil {
		c.t.Fatal(err)
	}
	return k
}

// run runs an instruction into a dense output, several times, and checks that
// it does not allocate.
func (c *columns) run(form string, ins Instr, types []dtype.Type, in []*kernel.Operand, want []kernel.Scalar) {
	k, out := c.kernel(ins, types), kerneltest.Dense(c.result, len(want))
	if err := kerneltest.All(c.rng, k, in, []*kernel.Operand{out}); err != nil {
		c.t.Fatal(err)
	}
	kerneltest.CheckAllocs(c.t, k, in, []*kernel.Operand{out})
	c.compare(form, k, in, out, want)
}

func (c *columns) compare(form string, k kernel.Kernel, in []*kernel.Operand, out *kernel.Operand, want []kernel.Scalar) {
	c.t.Helper()
	var args [][]kernel.Scalar
	for _, o := range in {
		args = append(args, scalarsOf(o))
	}
	if err := kerneltest.Run(c.rng, k, in, []*kernel.Operand{out}); err != nil {
		c.t.Fatal(err)
	}
	for i, got := range scalarsOf(out) {
		if !withinUlps(got, want[i], codeTolerance(c.ins.Code)) {
			var row []kernel.Scalar
			for _, a := range args {
				row = append(row, a[min(i, len(a)-1)])
			}
			c.t.Fatalf("%s: %v%v is %v, want %v", form, Program{c.ins}, row, got, want[i])
		}
	}
}

// TestRows checks what the rows of the table say of themselves, and that they
// have a loop for what they take, and none for what they do not.
func TestRows(t *testing.T) {
	for _, code := range Codes() {
		if code.String() == "" || code.Formula() == "" || code.Arity() < 1 || code.Arity() > 3 || len(code.Attrs()) > 2 {
			t.Errorf("code %d, %q, is not described", uint8(code), code)
		}
		if back, err := parseCode(code.String()); back != code || err != nil {
			t.Errorf("%v reads back as %v, %v", code, back, err)
		}
		if code == Ident || code == Cast {
			continue // lowered without a loop
		}
		for _, dt := range kerneltest.Halfless() {
			takes := slices.ContainsFunc(operandTypes(code), func(args []dtype.Type) bool { return args[len(args)-1] == dt })
			if l := loopsOf(code, dt); takes != (l[0] != nil) {
				t.Errorf("%v takes %v: %v, has a loop: %v", code, dt, takes, l[0] != nil)
			}
		}
	}
}

// TestBestLoop checks that a loop that takes scalars is found.
func TestBestLoop(t *testing.T) {
	l := loops{0: copyLoop, 0b10: copyLoop, 0b110: copyLoop}
	for scalars, want := range []int{0, 0, 0b10, 0b10, 0, 0, 0b110, 0b110} {
		if f, got := l.best(scalars); f == nil || got != want {
			t.Errorf("for the scalars %b the loop for %b is taken, not for %b", scalars, got, want)
		}
	}
}

// TestNaN has NaN in the place of each operand: what comes of it is NaN, but
// for the codes that are listed, whose formulas say so.
func TestNaN(t *testing.T) {
	race.SkipSequential(t)
	nan := math.NaN()
	exceptions := map[string]float64{
		"thresholded_relu(NaN)": 0, "shrink(NaN)": 0,
		"cast(NaN)": 1, "is_nan(NaN)": 1, "is_inf(NaN)": 0,
		"eq(NaN,1)": 0, "eq(1,NaN)": 0, "ne(NaN,1)": 1, "ne(1,NaN)": 1,
		"lt(NaN,1)": 0, "lt(1,NaN)": 0, "le(NaN,1)": 0, "le(1,NaN)": 0,
		"gt(NaN,1)": 0, "gt(1,NaN)": 0, "ge(NaN,1)": 0, "ge(1,NaN)": 0,
		"pow(1,NaN)": 1, "prelu(1,NaN)": 1, "where(1,1,NaN)": 1,
	}
	for _, code := range Codes() {
		for _, types := range operandTypes(code) {
			for at, dt := range types {
				if !dt.IsFloat() {
					continue
				}
				name, ins := code.String()+"(", Instr{Code: code, To: dtype.Bool}
				copy(ins.Attrs[:], code.Attrs())
				var in []*kernel.Operand
				for i, a := range types {
					v := 1.0
					if i == at {
						v = nan
					}
					ins.Args[i] = InputArg(i)
					in = append(in, scalarVector(a, slices.Repeat([]kernel.Scalar{kernel.Float64Scalar(v).Cast(a)}, 9)))
					name += fmt.Sprintf("%v,", v)
				}
				name = name[:len(name)-1] + ")"
				k, err := newKernel([]Instr{ins}, types)
				if err != nil {
					t.Fatal(err)
				}
				result, _ := code.Result(ins.To, types...)
				want, listed := exceptions[name]
				if !listed {
					want = nan
				}
				if result.IsInteger() {
					want = kernel.Float64Scalar(want).Cast(result).Float64() // of a power of an integer
				}
				out := kerneltest.Dense(result, 9)
				if err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), k, in, []*kernel.Operand{out}); err != nil {
					t.Fatal(err)
				}
				for _, s := range scalarsOf(out) {
					if got := s.Float64(); got != want && !(got != got && want != want) {
						t.Errorf("%s over %v is %v, want %v", name, types, got, want)
						break
					}
				}
			}
		}
	}
}

// TestDivideByZero checks that integer division by zero is an error that
// names the code, and that nothing panics for the least integer over -1.
func TestDivideByZero(t *testing.T) {
	for _, code := range []Code{Div, Mod, Fmod, FloorDiv, Pow} {
		for _, dt := range dtype.All() {
			if !dt.IsInteger() || code == Pow && dt.Kind() != dtype.KindInt {
				continue
			}
			bad := kernel.Int64Scalar(0).Cast(dt)
			one := kernel.Int64Scalar(1).Cast(dt)
			in := []*kernel.Operand{scalarVector(dt, []kernel.Scalar{one, one, one}), scalarVector(dt, []kernel.Scalar{one, one, bad})}
			if code == Pow { // 0 to the power of -1
				minus := kernel.Int64Scalar(-1).Cast(dt)
				in = []*kernel.Operand{scalarVector(dt, []kernel.Scalar{one, one, bad}), scalarVector(dt, []kernel.Scalar{one, one, minus})}
			}
			prog := []Instr{{Code: code, Args: [3]Arg{InputArg(0), InputArg(1)}}}
			k, err := newKernel(prog, []dtype.Type{dt, dt})
			if err != nil {
				t.Fatal(err)
			}
			err = kerneltest.Run(rand.New(rand.NewPCG(1, 1)), k, in, []*kernel.Operand{kerneltest.Dense(dt, 3)})
			if want := fmt.Sprintf("%v: integer division by zero", code); !errors.Is(err, ErrDivideByZero) || err.Error() != want {
				t.Errorf("%v of %v by 0: error %v, want %q", code, dt, err, want)
			}
		}
	}
}

// scalarVector returns a dense operand of the given elements.
func scalarVector(t dtype.Type, elems []kernel.Scalar) *kernel.Operand {
	o := kerneltest.Dense(t, len(elems))
	setElements(o, elems)
	return o
}

// setElements writes elems, in row-major order, over the elements of o.
func setElements(o *kernel.Operand, elems []kernel.Scalar) {
	i := 0
	kerneltest.ForEachIndex(o.Shape, func(index []int) {
		at := o.Offset
		for a, x := range index {
			at += x * o.Strides[a]
		}
		elems[i].Put(o.Data[at*o.DType.Size():])
		i++
	})
}

// scalarsOf returns the elements of o in row-major order.
func scalarsOf(o *kernel.Operand) []kernel.Scalar {
	data := kerneltest.Bytes(o)
	out := make([]kernel.Scalar, len(data)/o.DType.Size())
	for i := range out {
		out[i] = kernel.ScalarAt(o.DType, data, i)
	}
	return out
}
