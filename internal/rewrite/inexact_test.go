package rewrite_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/rewrite"
)

// networkTolerance is how far results of a random network may differ after all rules,
// relative to the larger of 1 and the largest result beside them: what roundings of
// several layers add up to, each of which may double those before.
const networkTolerance = 1e-4

// TestRandomNetworks compares random networks of the layers that inexact rules are about
// after all rules, and after all but one of these, with what they were before.
func TestRandomNetworks(t *testing.T) {
	graphs, does := 0, make(map[string]int)
	for seed := range graphtest.Seeds(t, 120) {
		graphs++
		text := network(rand.New(rand.NewPCG(seed, 3)))
		opt := rewrite.Options{Program: seed%4 != 0, Eval: evaluate}
		all := ""
		for _, without := range []string{"", rewrite.Inexact()[seed%uint64(len(rewrite.Inexact()))]} {
			roots := parse(t, text)
			opt.Without = nil
			if without != "" {
				opt.Without = []string{without}
			}
			after, err := rewrite.Run(t.Context(), roots, opt)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			compare(t, fmt.Sprintf("seed %d, without %q", seed, without), roots, after, networkTolerance)
			switch got := graph.Format(after, op.Format); {
			case without == "":
				all = got
			case got != all:
				does[without]++
			}
		}
	}
	for _, name := range rewrite.Inexact() {
		if does[name] == 0 && graphs >= 100 {
			t.Errorf("%s has nothing to do in %d networks", name, graphs)
		}
	}
}

// A layers writes the text of a network, whose last value is an image of float32.
type layers struct {
	strings.Builder
	rng            *rand.Rand
	last           int // value
	channels, size int
	shortcut       int // a value of the same shape, or 0
}

func network(rng *rand.Rand) string {
	l := &layers{rng: rng, channels: []int{3, 16}[rng.IntN(2)], size: []int{7, 14}[rng.IntN(2)]}
	if rng.IntN(3) == 0 {
		l.quantised()
	} else {
		l.add("input \"x\" float32%s", l.shape())
	}
	for range 2 + rng.IntN(5) {
		[]func(){l.conv, l.conv, l.conv, l.activation, l.activation, l.normalised, l.residual, l.transposed, l.scaled, l.flat}[rng.IntN(10)]()
	}
	fmt.Fprintf(l, "out n%d\n", l.last)
	if l.shortcut != 0 && rng.IntN(3) == 0 {
		fmt.Fprintf(l, "out n%d\n", l.shortcut)
	}
	return l.String()
}

// add writes a node and returns its value.
func (l *layers) add(format string, args ...any) int {
	l.last++
	fmt.Fprintf(l, "n%d = "+format+"\n", append([]any{l.last}, args...)...)
	return l.last
}

func (l *layers) shape() string { return fmt.Sprintf("[1 %d %d %d]", l.channels, l.size, l.size) }

// constant writes n numbers from low on, in a shape.
func (l *layers) constant(n int, low float64, shape string) int {
	numbers := make([]string, n)
	for i := range numbers {
		numbers[i] = fmt.Sprintf("%.4f", low+l.rng.Float64())
	}
	return l.add("constant float32[%s] data=[%s]", shape, strings.Join(numbers, " "))
}

// quantised is a convolution of dequantised numbers, quantised again. Its scales are powers of 2, by which
// the sums are exact before the rule too, and it is dilated, as winograd takes none that is: so no
// rounding to a step of the result hangs on one of a sum.
func (l *layers) quantised() {
	x := l.add("input \"q\" uint8%s", l.shape())
	scale, zero := l.add("constant float32[] data=[0.125]"), l.add("constant uint8[] data=[%d]", l.rng.IntN(4))
	image := l.add("dequantize n%d n%d n%d", x, scale, zero)
	maps := 16
	weights := l.add("constant int8[%d %d 3 3] data=hash(%d)", maps, l.channels, l.rng.IntN(100))
	each := l.add("constant float32[] data=[0.0078125]")
	l.channels = maps
	product := l.add("conv{dilations=[2 2], pads=[2 2 2 2]} n%d n%d", image, l.add("dequantize n%d n%d", weights, each))
	to := l.add("constant float32[] data=[0.0625]")
	middle := l.add("constant uint8[] data=[128]")
	l.add("dequantize n%d n%d n%d", l.add("quantize{to=uint8} n%d n%d n%d", product, to, middle), to, middle)
}

// conv is a convolution, and what batch_norm and affine take into it.
func (l *layers) conv() {
	x, maps, taps := l.last, []int{3, 16, 20}[l.rng.IntN(3)], []int{1, 3, 3}[l.rng.IntN(3)]
	weights := l.add("constant float32[%d %d %d %d] data=hash(%d)", maps, l.channels, taps, taps, l.rng.IntN(100))
	l.shortcut, l.channels = 0, maps
	pad := taps / 2
	one, bias := fmt.Sprint(maps), "_"
	if l.rng.IntN(2) == 0 {
		bias = fmt.Sprintf("n%d", l.constant(maps, -0.5, one))
	}
	conv := l.add("conv{pads=[%d %d %d %d]} n%d n%d %s", pad, pad, pad, pad, x, weights, bias)
	if l.rng.IntN(2) == 0 {
		l.add("batch_norm{epsilon=0.001} n%d n%d n%d n%d n%d", conv, l.constant(maps, 0, one), l.constant(maps, -0.5, one),
			l.constant(maps, -0.5, one), l.constant(maps, 20, one))
	} else {
		if l.rng.IntN(2) == 0 {
			shift := l.constant(maps, 0, one+" 1 1")
			conv = l.add("map{program=\"t0=add(x0,x1)\"} n%d n%d", conv, shift)
		}
		l.add("map{program=\"t0=mul(x0,%g:float32)\"} n%d", 0.1+0.1*l.rng.Float64(), conv)
	}
	if l.rng.IntN(2) == 0 {
		scale := l.last
		l.add("map{program=\"t0=%s(x0,x1)\"} n%d n%d", []string{"mul", "add"}[l.rng.IntN(2)], scale, l.constant(maps, 0, one+" 1 1"))
	}
	l.shortcut = l.last
}

// activation spells one out.
func (l *layers) activation() {
	programs := []string{
		"t0=div(x0,1.4142135:float32);t1=erf(t0);t2=add(t1,1:float32);t3=mul(x0,t2);t4=mul(t3,0.5:float32)",
		"t0=sigmoid(x0);t1=mul(t0,x0)",
		"t0=neg(x0);t1=exp(t0);t2=add(t1,1:float32);t3=reciprocal(t2)",
		"t0=mul(x0,x0);t1=mul(t0,0.044715:float32);t2=add(t1,1:float32);t3=mul(x0,0.7978846:float32);t4=mul(t3,t2);t5=tanh(t4);t6=add(t5,1:float32);t7=mul(t6,x0);t8=div(t7,2:float32)",
		"t0=exp(x0);t1=add(t0,1:float32);t2=log(t1);t3=tanh(t2);t4=mul(x0,t3)",
		"t0=add(x0,3:float32);t1=clip(t0,0:float32,6:float32);t2=mul(x0,t1);t3=div(t2,6:float32)",
		"t0=relu(x0)",
	}
	l.add("map{program=%q} n%d", programs[l.rng.IntN(len(programs))], l.last)
}

// normalised spells out a layer or RMS normalisation of rows.
func (l *layers) normalised() {
	x := l.last
	if l.rng.IntN(2) == 0 {
		x = l.add("map{program=\"t0=sub(x0,x1)\"} n%d n%d", x, l.add("reduce{kind=mean, axes=[-1], keep_dims=true} n%d", x))
	}
	square := []string{"t0=mul(x0,x0)", "t0=pow(x0,2:float32)"}[l.rng.IntN(2)]
	mean := l.add("reduce{kind=mean, axes=[-1], keep_dims=true} n%d", l.add("map{program=%q} n%d", square, x))
	root := l.add("map{program=\"t0=sqrt(x0)\"} n%d", l.add("map{program=\"t0=add(x0,0.1:float32)\"} n%d", mean))
	l.add("map{program=\"t0=div(x0,x1)\"} n%d n%d", x, root)
	if l.rng.IntN(2) == 0 {
		y := l.last
		l.add("map{program=\"t0=mul(x0,x1)\"} n%d n%d", y, l.constant(l.size, 0, fmt.Sprint(l.size)))
	}
}

// residual adds a value of before.
func (l *layers) residual() {
	if l.shortcut != 0 && l.shortcut != l.last {
		l.add("map{program=\"t0=add(x0,x1)\"} n%d n%d", l.last, l.shortcut)
	}
}

// scaled is a batch normalisation, and what affine takes into it.
func (l *layers) scaled() {
	one := fmt.Sprint(l.channels)
	x, norm := l.last, make([]any, 4)
	for i, low := range []float64{0, -0.5, -0.5, 20} {
		norm[i] = l.constant(l.channels, low, one)
	}
	y := l.add("batch_norm{epsilon=0.001} n%d n%d n%d n%d n%d", append([]any{x}, norm...)...)
	for _, code := range []string{"mul", "add"}[l.rng.IntN(2):] {
		c := l.constant(l.channels, 0, one+" 1 1")
		y = l.add("map{program=\"t0=%s(x0,x1)\"} n%d n%d", code, y, c)
	}
}

// flat scales the channels of an image whose positions are in one axis.
func (l *layers) flat() {
	scale := l.constant(l.channels, 0, fmt.Sprintf("%d 1", l.channels))
	x := l.add("reshape{shape=[1 %d %d]} n%d", l.channels, l.size*l.size, scale-1)
	y := l.add("map{program=\"t0=mul(x0,x1)\"} n%d n%d", x, scale)
	l.add("reshape{shape=%s} n%d", l.shape(), y)
}

// transposed swaps the axes of the image, which has as many rows as columns.
func (l *layers) transposed() {
	l.add("permute{perm=[0 1 3 2]} n%d", l.last)
}
