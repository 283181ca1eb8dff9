package onnx

import (
	"context"
	"reflect"
	"testing"

	"github.com/berth-go/berth"
)

// TestNothing calls what the package exports with arguments that are nil, on
// models that are right, nil and zero. Nothing panics, and what has an error to
// return does; the options alone may be nil.
func TestNothing(t *testing.T) {
	right := shiftModel(t)
	for what, m := range map[string]*Model{"right": right, "nil": nil, "zero": new(Model)} {
		v := reflect.ValueOf(m)
		for i := range v.NumMethod() {
			method, name := v.Method(i), what+" "+v.Type().Method(i).Name
			if method.Type().NumIn() > 0 && method.Type().In(0) == reflect.TypeFor[context.Context]() {
				for _, ctx := range []context.Context{nil, t.Context()} {
					args := zeros(method.Type())
					args[0] = reflect.Zero(method.Type().In(0))
					if ctx != nil {
						args[0] = reflect.ValueOf(ctx)
					}
					// Even the right model lacks an extent or its inputs.
					wantErrorOf(t, name, method, args)
				}
				continue
			}
			if name != "right Close" {
				calling(t, name, method, zeros(method.Type()))
			}
		}
	}
	var none context.Context
	if _, err := right.Compile(none, &Options{Open: 1}); err == nil || err.Error() != "onnx: the context is nil" {
		t.Errorf("Compile: %v", err)
	}
	inputs := map[string]*berth.Tensor{"x": f32([]float64{1, 2}, 1, 2), "z": f32([]float64{0}, 1)}
	if _, err := right.Run(none, inputs); err == nil || err.Error() != "onnx: the context is nil" {
		t.Errorf("Run: %v", err)
	}
	for name, f := range map[string]any{"LoadFile": LoadFile, "Load": Load, "Parse": Parse, "ReadTensor": ReadTensor, "Inspect": Inspect, "AppendTensor": AppendTensor} {
		wantErrorOf(t, name, reflect.ValueOf(f), zeros(reflect.TypeOf(f)))
	}
}

func zeros(f reflect.Type) (args []reflect.Value) {
	for i := range f.NumIn() {
		args = append(args, reflect.Zero(f.In(i)))
	}
	return args
}

// calling calls f, which must not panic.
func calling(t *testing.T, what string, f reflect.Value, args []reflect.Value) (results []reflect.Value) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v", what, r)
		}
	}()
	return f.Call(args)
}

func wantErrorOf(t *testing.T, what string, f reflect.Value, args []reflect.Value) {
	t.Helper()
	if results := calling(t, what, f, args); results != nil && results[len(results)-1].IsNil() {
		t.Errorf("%s: no error", what)
	}
}
