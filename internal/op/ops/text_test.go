package ops_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/recurrent"
)

// TestAllIsComplete reads the source of the families: every type with a method
// Name is an op and must be listed.
func TestAllIsComplete(t *testing.T) {
	listed := make(map[string]bool) // as in "move.Concat"
	names := make(map[string]bool)
	snake := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	for _, o := range ops.All() {
		listed[reflect.TypeOf(o).String()] = true
		if names[o.Name()] || !snake.MatchString(o.Name()) {
			t.Errorf("name %q is taken or not lower_snake", o.Name())
		}
		names[o.Name()] = true
	}
	found := 0
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Name" {
				found++
				receiver := f.Recv.List[0].Type
				if star, ok := receiver.(*ast.StarExpr); ok {
					receiver = star.X
				}
				if name := file.Name.Name + "." + receiver.(*ast.Ident).Name; !listed[name] {
					t.Errorf("op %s is missing in All", name)
				}
			}
		}
	}
	const structural = 3 // of package graph
	if found != len(listed)-structural {
		t.Errorf("found %d ops in the source, All lists %d besides %d structural ones", found, len(listed)-structural, structural)
	}
}

// TestOpsAreOneOrTheOther: what is not structural is a view or computes.
func TestOpsAreOneOrTheOther(t *testing.T) {
	for _, o := range ops.All() {
		switch o.(type) {
		case graph.Identity, graph.Contiguous, graph.Cache:
			continue
		}
		_, view := o.(graph.Viewer)
		_, computes := o.(op.Computer)
		if !view && !computes {
			t.Errorf("%s is neither a view nor does it compute", o.Name())
		}
	}
}

// randomAttributes sets every field of a copy of o to a random value.
func randomAttributes(t *testing.T, rng *rand.Rand, o graph.Op) graph.Op {
	t.Helper()
	v := reflect.New(reflect.TypeOf(o)).Elem()
	for i := range v.NumField() {
		if rng.IntN(4) == 0 {
			continue
		}
		field := v.Field(i)
		switch p := field.Addr().Interface().(type) {
		case *int:
			*p = anyInt(rng)
		case *float64:
			*p = anyFloat(rng)
		case *bool:
			*p = rng.IntN(2) == 0
		case *string:
			*p = []string{"", "a", `"},{=`, "ü\n\x00"}[rng.IntN(4)]
		case *[]int:
			for range rng.IntN(4) {
				*p = append(*p, anyInt(rng))
			}
		case *[]float64:
			for range rng.IntN(4) {
				*p = append(*p, anyFloat(rng))
			}
		case *dtype.Type:
			*p = dtype.All()[rng.IntN(len(dtype.All()))]
		case *kernel.Scalar:
			dt := dtype.All()[rng.IntN(len(dtype.All()))]
			p.DType, p.Bits = dt, rng.Uint64()>>(64-8*dt.Size())
			if dt == dtype.Bool {
				p.Bits &= 1
			}
			if dt.IsLowPrecision() { // bits that do not count are those of the number
				*p = p.Cast(dt.Wide()).Cast(dt)
			}
		case *elementwise.Program:
			texts := []string{"t0=add(x0,x1)", "t0=leaky_relu[0.01](x0);t1=mul(t0,2:float32);t2=cast[int32](t1)"}
			if err := p.UnmarshalText([]byte(texts[rng.IntN(2)])); err != nil {
				t.Fatal(err)
			}
		case *recurrent.Functions:
			texts := []string{"t0=tanh(x0)", "t0=sigmoid(x0)|t0=mul(x0,2:float32);t1=hard_sigmoid[0.2,0.5](t0)|t0=tanh(x0)"}
			if err := p.UnmarshalText([]byte(texts[rng.IntN(2)])); err != nil {
				t.Fatal(err)
			}
		default:
			setEnumeration(t, rng, o, field)
		}
	}
	return v.Interface().(graph.Op)
}

func setEnumeration(t *testing.T, rng *rand.Rand, o graph.Op, field reflect.Value) {
	t.Helper()
	m, ok := field.Addr().Interface().(interface{ MarshalText() ([]byte, error) })
	if !ok {
		t.Fatalf("%s has an attribute of type %v, which has no text form", o.Name(), field.Type())
	}
	set := func(i uint64) {
		if field.CanUint() {
			field.SetUint(i)
		} else {
			field.SetInt(int64(i))
		}
	}
	n := uint64(0)
	for ; n < 100; n++ {
		set(n)
		if _, err := m.MarshalText(); err != nil {
			break
		}
	}
	if n == 0 || n == 100 {
		t.Fatalf("%s: %v does not look like an enumeration", o.Name(), field.Type())
	}
	set(rng.Uint64N(n))
}

func anyInt(rng *rand.Rand) int {
	if rng.IntN(4) == 0 {
		return []int{math.MaxInt, math.MinInt, -1, 1}[rng.IntN(4)]
	}
	return rng.IntN(20) - 10
}

func anyFloat(rng *rand.Rand) float64 {
	if rng.IntN(4) == 0 {
		return []float64{math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 5e-324, math.MaxFloat64, 1e21, 1.0 / 3}[rng.IntN(7)]
	}
	return rng.NormFloat64()
}

func TestTextRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, o := range ops.All() {
		for range 200 {
			want := randomAttributes(t, rng, o)
			text := op.Format(want)
			got, err := ops.Parse(text)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: %v, got %+v, want %+v", text, err, got, want)
			}
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		op   graph.Op
		want string
	}{
		{move.Concat{}, "concat"},
		{move.Concat{Axis: -1}, "concat{axis=-1}"},
		{move.Pad{Mode: move.PadEdge, Pads: []int{0, 1}}, "pad{mode=edge, pads=[0 1]}"},
		{move.Eye{Rows: 2, Cols: 3, DType: dtype.Float16}, "eye{rows=2, cols=3, dtype=float16}"},
		{linear.Gemm{Alpha: 0.1, TransB: true}, "gemm{alpha=0.1, trans_b=true}"},
		{move.Iota{N: 3, Delta: optest.Scalar(t, "1.5:float32")}, "iota{n=3, delta=1.5:float32}"},
		{graph.Cache{}, "cache"},
		{graph.Input{Key: "a b"}, `input{key="a b"}`},
	} {
		if got := op.Format(c.op); got != c.want {
			t.Errorf("%+v prints as %s, want %s", c.op, got, c.want)
		}
	}
	if o, err := ops.Parse("concat{ }"); err != nil || o != (move.Concat{}) {
		t.Errorf("%v, %v", o, err)
	}
	if o, err := ops.Parse("gather_nd{ batch_dims=2 }"); err != nil || o != (move.GatherND{BatchDims: 2}) {
		t.Errorf("%v, %v", o, err)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `unknown op ""`},
		{"nothing{axis=1}", `unknown op "nothing"`},
		{"constant", "unknown op"},
		{"concat{", "expected an attribute"},
		{"concat{axis", "expected an attribute"},
		{"concat{axis=", "no }"},
		{"concat{axis=1", "no }"},
		{"concat{axis=x}", `attribute axis: strconv.Atoi: parsing "x"`},
		{"concat{axis=1, axis=1}", "given twice"},
		{"concat{axis=1 axis=1}", "attribute axis"},
		{"concat{axis=1}}", "unexpected"},
		{"concat{Axis=1}", `no attribute "Axis"`},
		{"pad{pads=1}", "not a list"},
		{"pad{pads=[1 2}", "no ]"},
		{"pad{pads=[1 x]}", "parsing"},
		{"pad{pads=[1]x}", "expected , or }"},
		{"pad{mode=edgy}", `"edgy" is not a pad mode`},
		{`pad{mode="edge}`, "bad quotes"},
		{"eye{dtype=float}", "unknown element type"},
		{"iota{start=1}", "lacks an element type"},
		{"trilu{upper=maybe}", "parsing"},
		{"gemm{alpha=}", "parsing"},
	} {
		if o, err := ops.Parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, error %v, want one with %q", c.text, o, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, o := range ops.All() {
		f.Add(op.Format(o))
	}
	f.Add("pad{mode=edge, pads=[0 1]}")
	f.Add(`map{program="t0=add(x0,1:float32)"}`)
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ops.Parse(text)
		if err != nil {
			return
		}
		again, err := ops.Parse(op.Format(o))
		if err != nil || op.Format(again) != op.Format(o) {
			t.Errorf("%q reads as %+v, and its text as %+v, %v", text, o, again, err)
		}
		if !slices.ContainsFunc(ops.All(), func(p graph.Op) bool { return p.Name() == o.Name() }) {
			t.Errorf("%q reads as an op that is not listed", text)
		}
	})
}

// TestNoKernelForHalves asks every op that computes in float32 for a kernel of
// halves.
func TestNoKernelForHalves(t *testing.T) {
	wideners := 0
	for _, o := range ops.All() {
		if _, ok := o.(op.Widener); !ok {
			continue
		}
		wideners++
		in := []graph.Type{{DType: dtype.BFloat16, Shape: []int{2}}, {DType: dtype.Float32, Shape: []int{2}}}
		if _, err := op.KernelOf(o, in, in[:1]); err == nil || !strings.Contains(err.Error(), "bfloat16[2], its input 0") {
			t.Errorf("%s: error %v, want one about its input 0", o.Name(), err)
		}
	}
	if wideners == 0 {
		t.Error("no op computes in float32")
	}
}
