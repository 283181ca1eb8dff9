package berth_test

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
)

// functions are the exported functions of the package, by name.
var functions = map[string]any{
	"At":              berth.At[float32],
	"Close":           berth.Close,
	"Compile":         berth.Compile,
	"Concat":          berth.Concat,
	"Data":            berth.Data[float32],
	"Differ":          berth.Differ,
	"Dim":             berth.Dim,
	"Equal":           berth.Equal,
	"FromSlice":       berth.FromSlice[float32],
	"Full":            berth.Full[float32],
	"Identity":        berth.Identity[float32],
	"Input":           berth.Input,
	"Materialize":     berth.Materialize,
	"MaterializeWith": berth.MaterializeWith,
	"NewPrograms":     berth.NewPrograms,
	"NewPool":         berth.NewPool[*berth.Instance],
	"Normal":          berth.Normal[float32],
	"PlanOf":          berth.PlanOf,
	"Range":           berth.Range[int64],
	"ReadNPY":         berth.ReadNPY,
	"ReadNPZ":         berth.ReadNPZ,
	"ReadSafetensors": berth.ReadSafetensors,
	"Scalar":          berth.Scalar[float32],
	"ShapesOf":        berth.ShapesOf,
	"Stack":           berth.Stack,
	"Uniform":         berth.Uniform[float32],
	"WriteNPZ":        berth.WriteNPZ,
	"Zeros":           berth.Zeros,
}

// receivers are usable values of the types with methods.
func receivers(t *testing.T) []any {
	x := must(berth.FromSlice([]float32{1, 2, 3, 4}, 2, 2))
	program := must(berth.Compile(t.Context(), berth.Outputs{"y": berth.Input("x", berth.Float32, 2).Exp()}, nil))
	instance := must(program.NewInstance(nil))
	t.Cleanup(instance.Close)
	return []any{
		x, x.Promise(), program, instance,
		berth.NewPrograms(1, func(context.Context, berth.Shapes) (*berth.Program, error) { return program, nil }),
		program.NewPool(1, nil),
	}
}

// optional are the parameters, by function, that may be nil: maps that then
// are empty, options that then are the defaults, and biases.
var optional = map[string]string{
	"Conv": "bias opt", "LayerNorm": "bias", "MaxPool": "opt", "AveragePool": "opt",
	"Compile": "opt", "NewInstance": "opt",
	// A nil function is an error of Get and Do, where there is one to return.
	"NewPrograms": "build", "NewPool": "create opt",
}

// required are the types of which nil is an error.
var required = []reflect.Type{
	reflect.TypeFor[context.Context](), reflect.TypeFor[*berth.Promise](), reflect.TypeFor[*berth.Tensor](),
	reflect.TypeFor[io.Reader](), reflect.TypeFor[io.ReaderAt](), reflect.TypeFor[io.Writer](), reflect.TypeFor[*rand.Rand](),
}

// exported returns the exported functions that the sources of the package
// declare with the names of their parameters: "Close" and "Program.Close".
func exported(t *testing.T) map[string][]string {
	t.Helper()
	found := make(map[string][]string)
	for _, name := range must(filepath.Glob("*.go")) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, d := range must(parser.ParseFile(token.NewFileSet(), name, nil, 0)).Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil {
				of := f.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				if generic, ok := of.(*ast.IndexExpr); ok {
					of = generic.X
				}
				name = of.(*ast.Ident).Name + "." + name
			}
			params := []string{}
			for _, field := range f.Type.Params.List {
				for _, p := range field.Names {
					params = append(params, p.Name)
				}
			}
			found[name] = params
		}
	}
	return found
}

// TestNothing calls every exported function and method with arguments that are
// nil or zero: as a whole, on nil and zero receivers, and one among others that
// are right. Nothing panics, and what has an error to return returns one.
func TestNothing(t *testing.T) {
	params := exported(t)
	seen := make(map[string]bool)
	for name, f := range functions {
		seen[name] = true
		callWithout(t, name, reflect.ValueOf(f), params[name])
	}
	for _, r := range receivers(t) {
		right, typ := reflect.ValueOf(r), reflect.TypeOf(r)
		name, _, _ := strings.Cut(typ.Elem().Name(), "[") // without type arguments
		for i := range typ.NumMethod() {
			method := name + "." + typ.Method(i).Name
			seen[method] = true
			for what, receiver := range map[string]reflect.Value{"nil": reflect.Zero(typ), "zero": reflect.New(typ.Elem())} {
				f := receiver.Method(i)
				results := call(t, what+" "+method, f, rightArguments(f.Type()))
				if failed, tells := fails(results); tells && !failed {
					t.Errorf("%s %s returns no error", what, method)
				}
				call(t, what+" "+method+" of nothing", f, make([]reflect.Value, f.Type().NumIn()))
			}
			callWithout(t, method, right.Method(i), params[method])
		}
	}
	for _, zero := range []any{berth.Memory{}, berth.Description{}, berth.Steps(nil), berth.Step{}, berth.Slot{}} {
		v := reflect.ValueOf(zero)
		for i := range v.NumMethod() {
			method := v.Type().Name() + "." + v.Type().Method(i).Name
			seen[method] = true
			call(t, "zero "+method, v.Method(i), nil)
		}
	}
	for name := range params {
		if !seen[name] {
			t.Errorf("%s is not among the functions and receivers of this test", name)
		}
	}
}

// callWithout calls f without any argument, and without each.
func callWithout(t *testing.T, name string, f reflect.Value, params []string) {
	t.Helper()
	typ := f.Type()
	call(t, name+" of nothing", f, make([]reflect.Value, typ.NumIn()))
	for i := range typ.NumIn() {
		in, kind := typ.In(i), typ.In(i)
		if typ.IsVariadic() && i == typ.NumIn()-1 {
			kind = in.Elem()
		}
		if !nilable(kind) {
			continue
		}
		args := rightArguments(typ)
		args[i] = reflect.Zero(in)
		if in != kind {
			args[i] = reflect.MakeSlice(in, 1, 1) // of nil
		}
		what := fmt.Sprintf("%s, %s is nil", name, params[i])
		results := call(t, what, f, args)
		function := name[strings.LastIndex(name, ".")+1:]
		if !slices.Contains(required, kind) || slices.Contains(strings.Fields(optional[function]), params[i]) {
			continue
		}
		if failed, tells := fails(results); tells && !failed {
			t.Errorf("%s: no error", what)
		}
	}
}

func nilable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Func, reflect.Slice:
		return true
	}
	return false
}

// rightArguments returns one argument for each parameter of a function, none
// of them nil.
func rightArguments(f reflect.Type) []reflect.Value {
	x := must(berth.FromSlice([]float32{1, 2, 3, 4}, 2, 2))
	rightOnes := []any{
		context.Background(), x, x.Promise(), new(bytes.Buffer), bytes.NewReader(nil), rand.New(rand.NewPCG(1, 2)),
	}
	args := make([]reflect.Value, f.NumIn())
	for i := range args {
		in := f.In(i)
		args[i] = reflect.Zero(in)
		for _, v := range rightOnes {
			if (in.Kind() == reflect.Interface && in.NumMethod() > 0 || in.Kind() == reflect.Pointer) && reflect.TypeOf(v).AssignableTo(in) {
				args[i] = reflect.ValueOf(v).Convert(in)
				break
			}
		}
		if args[i].IsZero() && in.Kind() == reflect.Pointer {
			args[i] = reflect.New(in.Elem())
		}
	}
	return args
}

// call calls f; arguments that are not valid stand for zero.
func call(t *testing.T, what string, f reflect.Value, args []reflect.Value) (results []reflect.Value) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v", what, r)
		}
	}()
	for i := range args {
		if !args[i].IsValid() {
			args[i] = reflect.Zero(f.Type().In(i))
		}
	}
	if f.Type().IsVariadic() {
		return f.CallSlice(args)
	}
	return f.Call(args)
}

// fails reports whether results are an error or a broken promise, and whether
// they could be.
func fails(results []reflect.Value) (failed, tells bool) {
	for _, r := range results {
		switch v := r.Interface().(type) {
		case error:
			return true, true
		case *berth.Promise:
			return v.Err() != nil, true
		case []*berth.Promise:
			return slices.ContainsFunc(v, func(p *berth.Promise) bool { return p.Err() != nil }), len(v) > 0
		}
		tells = tells || r.Type() == reflect.TypeFor[error]()
	}
	return false, tells
}

// TestNothingInRuns leaves out what a run needs when all else is right.
func TestNothingInRuns(t *testing.T) {
	p := affine(t, nil)
	inst := must(p.NewInstance(nil))
	defer inst.Close()
	x, b := must(berth.Zeros(berth.Float32, 2, 3)), must(berth.Zeros(berth.Float32, 4))
	outputs := berth.Values{"y": make([]float32, 8), "best": make([]int64, 2)}
	var none context.Context
	wantError(t, "context", inst.Run(none, berth.Values{"x": x, "b": b}, outputs), "the context is nil")
	wantError(t, "context", second(p.RunOnce(none, map[string]*berth.Tensor{"x": x, "b": b}, 1)), "the context is nil")
	wantError(t, "inputs", inst.Run(t.Context(), nil, outputs), `input "x"`, "not given")
	wantError(t, "outputs", inst.Run(t.Context(), berth.Values{"x": x, "b": b}, nil), `output "best"`, "not given")
	for what, nothing := range map[string]*berth.Tensor{"nil": nil, "zero": new(berth.Tensor)} {
		wantError(t, what, inst.Run(t.Context(), berth.Values{"x": x, "b": nothing}, outputs), `input "b"`, "the tensor is", what)
		wantError(t, what, second(p.RunOnce(t.Context(), map[string]*berth.Tensor{"x": x, "b": nothing}, 1)), `input "b"`, "the tensor is", what)
	}
}
