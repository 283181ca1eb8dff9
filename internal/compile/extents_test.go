package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/shape"
)

// textual is the family of a graph whose text, with an x in place of the data of
// inputs, depends on one dimension n.
func textual(least, most int, text func(n int) (string, error)) family {
	return family{[]extent.Dim{{Name: "n", Min: least, Max: most}}, func(p extent.Point) (graphtest.Graph, error) {
		s, err := text(p[0])
		if err != nil {
			return graphtest.Graph{}, err
		}
		roots, err := graph.Parse(s, ops.Parse)
		if err != nil {
			return graphtest.Graph{}, err
		}
		g := graphtest.Graph{Roots: roots, Inputs: make(map[string]graph.Leaf)}
		for _, n := range graph.Nodes(roots...) {
			if in, ok := n.Op().(graph.Input); ok {
				typ := n.Output(0).Type()
				x := make([]float32, typ.Shape.Elems())
				for i := range x {
					x[i] = float32(i%7) - 3
				}
				g.Inputs[in.Key] = graph.Leaf{Layout: shape.Dense(typ.Shape), Data: kernel.Bytes(x)}
			}
		}
		return g, nil
	}}
}

// TestVaries compiles graphs that depend on a dimension in other ways than by the
// extents of their inputs, and runs those that can vary at every extent. The others
// are refused with a node and a reason.
func TestVaries(t *testing.T) {
	text := func(format string) func(n int) (string, error) {
		return func(n int) (string, error) { return strings.ReplaceAll(format, "N", fmt.Sprint(n)), nil }
	}
	for _, c := range []struct {
		name        string
		least, most int
		text        func(n int) (string, error)
		want        string // part of the error
	}{
		{"what needs no input and has the size of the dimension is not folded", 1, 9, text(`x = input "x" float32[N 2]
w = constant float32[2] data=[1 2]
b = broadcast_to{shape=[N 2]} w
e = map{program="t0=exp(x0)"} b
y = map{program="t0=add(x0,x1)"} x e
out y
`), ""},
		{"what is of one size and read from something of another size is not folded", 1, 9, text(`x = input "x" float32[N]
w = constant float32[] data=[3]
b = broadcast_to{shape=[N]} w
e = map{program="t0=exp(x0)"} b
s = reduce{kind=sum, axes=[0]} e
y = map{program="t0=add(x0,x1)"} x s
out y
`), ""},
		{"what moves over a constant is not folded", 1, 9, text(`x = input "x" float32[N]
w = constant float32[12] data=iota
v = slice_view{n=2, start=N, step=1} w
e = map{program="t0=exp(x0)"} v
s = reduce{kind=sum, axes=[0]} e
y = map{program="t0=add(x0,x1)"} x s
out y
`), ""},
		{"an attribute that is a list follows", 3, 9, text(`x = input "x" float32[N 2]
y = pad{pads=[N 0 1 0]} x
out y
`), ""},
		{"an extent that is rounded down follows", 1, 30, text(`x = input "x" float32[N 2]
y = resize{mode=linear, scales=[0.7 1]} x
out y
`), ""},
		{"a constant", 1, 9, text(`x = input "x" float32[N 2]
w = constant float32[2] data=[N 1]
y = map{program="t0=add(x0,x1)"} x w
out y
`), "cannot vary: it is one constant with n=9 and another with n=8"},
		{"an attribute that is no integer", 1, 9, text(`x = input "x" float32[N 4]
y = layer_norm{axis=1, epsilon=N} x
out y
`), "depends on the dimensions and is no integer"},
		{"an attribute that jumps", 1, 9, func(n int) (string, error) {
			return text(fmt.Sprintf("x = input \"x\" float32[N 40]\ny = slice_view{n=%d, axis=1} x\nz = softmax{axis=1} y\nout z\n", []int{3, 31, 5, 17, 2, 29}[n%6]))(n)
		}, "slice_view"},
		{"another op", 1, 9, func(n int) (string, error) {
			return text(fmt.Sprintf("x = input \"x\" float32[N]\ny = reduce{kind=%s, axes=[0]} x\nout y\n", []string{"sum", "max"}[n%2]))(n)
		}, "attribute Kind depends on the dimensions"},
		{"another input", 1, 9, func(n int) (string, error) {
			return text(fmt.Sprintf("a = input \"a\" float32[N]\nb = input \"b\" float32[N]\nc = map{program=\"t0=add(x0,x1)\"} a b\nd = softmax{axis=0} %s\ne = map{program=\"t0=add(x0,x1)\"} c d\nout e\n", []string{"a", "b"}[n%2]))(n)
		}, "its input 0 is"},
		{"a number of axes", 1, 6, text(`x = input "x" float32[2 2 2 2 2 2]
i = input "i" int64[2 N]
y = gather_nd x i
out y
`), "gather_nd cannot vary: with n=5 output 0 is float32[2 2], with other extents float32[2]"},
		{"a number of axes within the graph, at one extent", 1, 9, text(`x = input "x" float32[2 2]
i = input "i" int64[N 2]
d = diagonal{axis2=1} i
y = gather_nd x d
z = reduce{kind=sum} y
out z
`), "gather_nd cannot run with n=1: output 0 is float32[2], with other extents float32[]"},
		{"an element type", 1, 9, func(n int) (string, error) {
			return text(fmt.Sprintf("x = input \"x\" %s[N]\ny = map{program=\"t0=exp(x0)\"} x\nout y\n", []string{"float32", "float64"}[n%2]))(n)
		}, "input (x) cannot vary: with n=8 output 0 is float32[8], with other extents float64[9]"},
		{"a number of axes where one extent has the graph built in another way", 1, 9, func(n int) (string, error) {
			flat := []int{n, 3}
			if n == 1 {
				flat = flat[1:]
			}
			return text(fmt.Sprintf("x = input \"x\" float32[N 1 3]\nf = reshape{shape=%v} x\ne = map{program=\"t0=exp(x0)\"} f\ny = reshape{shape=[N 3]} e\nout y\n", flat))(n)
		}, ""},
		{"a list where one extent has the graph built in another way", 1, 9, func(n int) (string, error) {
			axes := []int{0, 1}
			if n == 1 {
				axes = axes[1:]
			}
			return text(fmt.Sprintf("x = input \"x\" float32[N 3]\ny = reduce{kind=sum, axes=%v, keep_dims=true} x\nout y\n", axes))(n)
		}, ""},
		{"a build within the bounds that fails", 1, 30, func(n int) (string, error) {
			if n == 23 {
				return "", fmt.Errorf("no graph for %d", n)
			}
			return text("x = input \"x\" float32[N]\ny = softmax{axis=0} x\nout y\n")(n)
		}, "with n=23: no graph for 23"},
		{"a build beyond the bounds that fails", 1, 3, func(n int) (string, error) {
			if n > 3 {
				return "", fmt.Errorf("no graph for %d", n)
			}
			return text("x = input \"x\" float32[N]\ny = softmax{axis=0} x\nout y\n")(n)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := textual(c.least, c.most, c.text)
			if c.want != "" {
				if _, err := f.compile(compile.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				return
			}
			var points []extent.Point
			for n := c.least; n <= c.most; n++ {
				points = append(points, extent.Point{n})
			}
			run(t, c.name, f, compile.Options{}, 1, points...)
		})
	}
}

// TestExtendRefused asks for outputs to extend inputs where they cannot.
func TestExtendRefused(t *testing.T) {
	for _, c := range []struct{ name, graph, want string }{
		{"a reader that needs its operand dense", `past = input "past" float32[2 N 3]
x = input "x" float32[2 1 3]
c = concat{axis=1} past x
r = reshape{shape=[M]} c
s = cumulative{kind=sum, axis=0} r
out c
out s
`, "without gaps"},
		{"an output that is no concatenation", `past = input "past" float32[2 N 3]
c = softmax{axis=1} past
out c
`, "it is no concatenation"},
		{"a concatenation that begins with something else", `past = input "past" float32[2 N 3]
x = input "x" float32[2 1 3]
c = concat{axis=1} x past
out c
`, "its first part is"},
	} {
		f := textual(1, 6, func(n int) (string, error) {
			return strings.NewReplacer("N", fmt.Sprint(n), "M", fmt.Sprint(6*(n+1))).Replace(c.graph), nil
		})
		_, err := f.compile(compile.Options{Extends: map[string]string{"out0": "past"}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
