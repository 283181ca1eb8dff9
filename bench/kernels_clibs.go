//go:build clibs

package main

// #cgo CFLAGS: -O3 -march=native -ffast-math -fopenmp
// #cgo LDFLAGS: -lopenblas -ldnnl -lmvec -lm -fopenmp
// #include <cblas.h>
// #include "kernels.h"
import "C"

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/berth-go/berth"
)

func libraries() (kernels []kernel, caption string, err error) {
	core := C.GoString(C.openblas_get_corename())
	if fast := []string{"SkylakeX", "Cooperlake", "SapphireRapids"}; cpu.X86.HasAVX512F && !slices.Contains(fast, core) && os.Getenv("OPENBLAS_CORETYPE") == "" {
		// OpenBLAS chooses as it is loaded, and does not know newer processors.
		path, err := os.Executable()
		if err != nil {
			return nil, "", err
		}
		return nil, "", syscall.Exec(path, os.Args, append(os.Environ(), "OPENBLAS_CORETYPE=SkylakeX"))
	}
	kernels = slices.Concat(products(), vectors(), convolutions(), loops())
	return kernels, "OpenBLAS for " + core + ", oneDNN in the layout and form that is fastest, and loops of gcc -O3 -march=native -ffast-math.", nil
}

func first[T any](x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

func pointer(x []float32) *C.float { return (*C.float)(first(x)) }

// normal returns n numbers about 0, the same at each call.
func normal(n int) []float32 {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// constant returns a promise of data that a program holds, and may keep in a form of its own.
func constant(data []float32, dims ...int) (*berth.Promise, error) {
	t, err := berth.FromSlice(data, dims...)
	if err != nil {
		return nil, err
	}
	return t.Promise(), nil
}

// products are those of square matrices, of constant weights as models have them, by which a
// row or several are multiplied, and of batches.
func products() (list []kernel) {
	add := func(name string, batch, m, k, n int, weights string) {
		list = append(list, kernel{
			table: "product", name: name, work: 2 * float64(batch*m) * float64(k*n), unit: "GFLOP/s",
			make: func(threads int) (*peer, error) {
				a, b, c := normal(batch*m*k), normal(batch*k*n), make([]float32, batch*m*n)
				p := &peer{
					inputs: berth.Values{"a": a, "b": b},
					library: func() {
						C.product(C.int(batch), C.int(m), C.int(n), C.int(k), pointer(a), pointer(b), pointer(c))
					},
					result: func() []float32 { return c },
					free:   func() {},
				}
				dims := func(rows, cols int) []int {
					if batch == 1 {
						return []int{rows, cols}
					}
					return []int{batch, rows, cols}
				}
				operand := func(side string, data []float32, dims []int) (*berth.Promise, error) {
					if side == weights {
						delete(p.inputs, side)
						return constant(data, dims...)
					}
					extents := make([]any, len(dims))
					for i, d := range dims {
						extents[i] = d
					}
					return berth.Input(side, berth.Float32, extents...), nil
				}
				left, err := operand("a", a, dims(m, k))
				if err != nil {
					return nil, err
				}
				right, err := operand("b", b, dims(k, n))
				if err != nil {
					return nil, err
				}
				p.outputs = berth.Outputs{"y": left.MatMul(right)}
				C.use_threads(C.int(threads))
				return p, nil
			},
		})
	}
	for _, n := range []int{64, 128, 256, 512, 1024, 2048} {
		add(fmt.Sprintf("%d×%d×%d", n, n, n), 1, n, n, n, "")
	}
	for _, s := range [][3]int{{1, 384, 1536}, {128, 384, 384}, {128, 384, 1536}, {128, 1536, 384}} {
		add(fmt.Sprintf("%d×%d×%d, weights right", s[0], s[1], s[2]), 1, s[0], s[1], s[2], "b")
	}
	add("12 of 128×32×128", 12, 128, 32, 128, "")
	for _, s := range [][3]int{{32, 27, 12544}, {96, 16, 12544}, {24, 144, 3136}, {32, 192, 784}, {384, 64, 196}, {160, 960, 49}, {1280, 320, 49}} {
		add(fmt.Sprintf("%d×%d×%d, weights left", s[0], s[1], s[2]), 1, s[0], s[1], s[2], "a") // mobilenet_v2
	}
	return list
}

// vectors are products of a matrix and a vector, beside a sum of the matrix.
func vectors() (list []kernel) {
	for _, s := range [][2]int{{768, 3072}, {3072, 768}, {1000, 1000}, {4096, 4096}} {
		for _, transposed := range []bool{false, true} {
			m, k := s[0], s[1]
			name := fmt.Sprintf("%d×%d by a vector", m, k)
			if transposed {
				name = fmt.Sprintf("a vector by %d×%d", m, k)
			}
			list = append(list, kernel{
				table: "vector", name: name, work: 4 * float64(m*k), unit: "GB/s",
				make: func(threads int) (*peer, error) {
					a := normal(m * k)
					C.use_threads(C.int(threads))
					p := &peer{library: func() { C.sum(C.size_t(len(a)), pointer(a)) }, free: func() {}}
					matrix := berth.Input("a", berth.Float32, m, k)
					if transposed {
						p.inputs = berth.Values{"a": a, "x": normal(m)}
						p.outputs = berth.Outputs{"y": berth.Input("x", berth.Float32, 1, m).MatMul(matrix)}
					} else {
						p.inputs = berth.Values{"a": a, "x": normal(k)}
						p.outputs = berth.Outputs{"y": matrix.MatMul(berth.Input("x", berth.Float32, k, 1))}
					}
					return p, nil
				},
			})
		}
	}
	return list
}

// A convShape is that of a square image and the taps over it, padded by half of them.
type convShape struct{ channels, maps, size, taps, stride, groups int }

// Convolutions that stand out, and those of networks, each once.
var convShapes = []convShape{
	{64, 64, 224, 3, 1, 1}, {64, 64, 56, 3, 1, 1}, {256, 256, 14, 3, 1, 1}, {3, 32, 224, 3, 2, 1}, {3, 64, 224, 7, 2, 1},
	{32, 32, 112, 3, 1, 32}, {96, 96, 112, 3, 2, 96}, {16, 96, 112, 1, 1, 1}, {144, 24, 56, 1, 1, 1}, {960, 320, 7, 1, 1, 1},
	// mobilenet_v2
	{32, 16, 112, 1, 1, 1}, {96, 24, 56, 1, 1, 1}, {24, 144, 56, 1, 1, 1}, {144, 144, 56, 3, 1, 144}, {144, 144, 56, 3, 2, 144},
	{144, 32, 28, 1, 1, 1}, {32, 192, 28, 1, 1, 1}, {192, 192, 28, 3, 1, 192}, {192, 32, 28, 1, 1, 1}, {192, 192, 28, 3, 2, 192},
	{192, 64, 14, 1, 1, 1}, {64, 384, 14, 1, 1, 1}, {384, 384, 14, 3, 1, 384}, {384, 64, 14, 1, 1, 1}, {384, 96, 14, 1, 1, 1},
	{96, 576, 14, 1, 1, 1}, {576, 576, 14, 3, 1, 576}, {576, 96, 14, 1, 1, 1}, {576, 576, 14, 3, 2, 576}, {576, 160, 7, 1, 1, 1},
	{160, 960, 7, 1, 1, 1}, {960, 960, 7, 3, 1, 960}, {960, 160, 7, 1, 1, 1}, {320, 1280, 7, 1, 1, 1},
	// resnet50
	{64, 64, 56, 1, 1, 1}, {64, 256, 56, 1, 1, 1}, {256, 64, 56, 1, 1, 1}, {256, 128, 56, 1, 2, 1}, {256, 512, 56, 1, 2, 1},
	{128, 128, 28, 3, 1, 1}, {128, 512, 28, 1, 1, 1}, {512, 128, 28, 1, 1, 1}, {512, 256, 28, 1, 2, 1}, {512, 1024, 28, 1, 2, 1},
	{256, 1024, 14, 1, 1, 1}, {1024, 256, 14, 1, 1, 1}, {1024, 512, 14, 1, 2, 1}, {1024, 2048, 14, 1, 2, 1},
	{512, 512, 7, 3, 1, 1}, {512, 2048, 7, 1, 1, 1}, {2048, 512, 7, 1, 1, 1},
	// super_resolution
	{1, 64, 224, 5, 1, 1}, {64, 32, 224, 3, 1, 1}, {32, 9, 224, 3, 1, 1},
}

func convolutions() (list []kernel) {
	for _, s := range convShapes {
		pad := s.taps / 2
		out := (s.size+2*pad-s.taps)/s.stride + 1
		terms := s.channels / s.groups * s.taps * s.taps
		name := fmt.Sprintf("%d→%d %d×%d at %d²", s.channels, s.maps, s.taps, s.taps, s.size)
		if s.stride > 1 {
			name += fmt.Sprintf(" stride %d", s.stride)
		}
		if s.groups > 1 {
			name += " depthwise"
		}
		list = append(list, kernel{
			table: "convolution", name: name, work: 2 * float64(s.maps*out*out) * float64(terms), unit: "GFLOP/s",
			make: func(threads int) (*peer, error) {
				image, weights := normal(s.channels*s.size*s.size), normal(s.maps*terms)
				C.use_threads(C.int(threads))
				var best *C.convolution
				var fastest time.Duration
				for winograd := range C.int(2) {
					v := C.new_convolution(winograd, C.int(s.channels), C.int(s.maps), C.int(s.size), C.int(s.size), C.int(s.taps), C.int(s.stride),
						C.int(pad), C.int(s.groups), pointer(image), pointer(weights))
					if v == nil {
						continue
					}
					run := func() { C.run_convolution(v) }
					run()
					took := time.Duration(timed(run, 20*time.Millisecond).Min * float64(time.Millisecond))
					if best != nil && took >= fastest {
						C.free_convolution(v)
						continue
					}
					if best != nil {
						C.free_convolution(best)
					}
					best, fastest = v, took
				}
				if best == nil {
					return nil, errors.New("oneDNN has no form of it")
				}
				w, err := constant(weights, s.maps, s.channels/s.groups, s.taps, s.taps)
				if err != nil {
					return nil, err
				}
				conv := func(x *berth.Promise) *berth.Promise {
					return x.Conv(w, nil, &berth.ConvOptions{
						Window: berth.Window{Strides: []int{s.stride, s.stride}, Pads: []int{pad, pad, pad, pad}}, Groups: s.groups,
					})
				}
				last := &channelsLast{
					outputs: berth.Outputs{"y": conv(berth.Input("x", berth.Float32, 1, s.size, s.size, s.channels).Permute(0, 3, 1, 2)).Permute(0, 2, 3, 1)},
					inputs:  berth.Values{"x": interleaved(image, s.channels)},
					maps:    s.maps,
				}
				return &peer{
					outputs: berth.Outputs{"y": conv(berth.Input("x", berth.Float32, 1, s.channels, s.size, s.size))},
					inputs:  berth.Values{"x": image},
					last:    last,
					library: func() { C.run_convolution(best) },
					result: func() []float32 {
						y := make([]float32, s.maps*out*out)
						if C.convolution_result(best, pointer(y)) != 0 {
							return nil
						}
						return y
					},
					free: func() { C.free_convolution(best) },
				}, nil
			},
		})
	}
	return list
}

// interleaved returns an image with channels last.
func interleaved(image []float32, channels int) []float32 {
	out, positions := make([]float32, len(image)), len(image)/channels
	for i, v := range image {
		out[i%positions*channels+i/positions] = v
	}
	return out
}

// loops are those over elements and rows.
func loops() (list []kernel) {
	type loop func(n C.size_t, a, b, y *C.float)
	for _, size := range []struct {
		name     string
		elements int
	}{{"64 KiB", 16 << 10}, {"64 MiB", 16 << 20}} {
		n := size.elements
		add := func(name string, inputs int, of func(a, b *berth.Promise) *berth.Promise, in loop, same bool) {
			list = append(list, kernel{
				table: "elementwise", name: name + ", " + size.name, work: 4 * float64(n*(inputs+1)), unit: "GB/s",
				make: func(threads int) (*peer, error) {
					a, b, y := normal(n), normal(n), make([]float32, n*3/2)
					slices.Reverse(b)
					C.use_threads(C.int(threads))
					p := &peer{
						outputs: berth.Outputs{"y": of(berth.Input("a", berth.Float32, n), berth.Input("b", berth.Float32, n))},
						inputs:  berth.Values{"a": a, "b": b},
						library: func() { in(C.size_t(n), pointer(a), pointer(b), pointer(y)) },
						free:    func() {},
					}
					if inputs == 1 {
						delete(p.inputs, "b")
					}
					if same {
						p.result = func() []float32 { return y[:n] }
					}
					return p, nil
				},
			})
		}
		unary := func(name string, of func(a *berth.Promise) *berth.Promise, in loop) {
			add(name, 1, func(a, _ *berth.Promise) *berth.Promise { return of(a) }, in, true)
		}
		five := func(a, b *berth.Promise) *berth.Promise {
			return a.Mul(b).Add(a).Clip(-1, 1).MulScalar(0.5).Sub(b)
		}
		unary("2x+1", func(a *berth.Promise) *berth.Promise { return a.MulScalar(2).AddScalar(1) },
			func(n C.size_t, a, b, y *C.float) { C.affine(n, a, b, y) })
		add("a+b", 2, func(a, b *berth.Promise) *berth.Promise { return a.Add(b) },
			func(n C.size_t, a, b, y *C.float) { C.add(n, a, b, y) }, true)
		add("five ops", 2, five, func(n C.size_t, a, b, y *C.float) { C.tree(n, a, b, y) }, true)
		add("five ops beside a copy of as many bytes", 2, five, func(n C.size_t, a, b, y *C.float) { C.copy3(n, a, b, y) }, false)
		unary("exp", (*berth.Promise).Exp, func(n C.size_t, a, b, y *C.float) { C.exponential(n, a, b, y) })
		unary("gelu", (*berth.Promise).Gelu, func(n C.size_t, a, b, y *C.float) { C.gelu(n, a, b, y) })
		unary("clip", func(a *berth.Promise) *berth.Promise { return a.Clip(-1, 1) },
			func(n C.size_t, a, b, y *C.float) { C.clip(n, a, b, y) })
		list = append(list, kernel{
			table: "elementwise", name: "uint8 to float32, " + size.name, work: 5 * float64(n), unit: "GB/s",
			make: func(threads int) (*peer, error) {
				x, y := make([]byte, n), make([]float32, n)
				for i := range x {
					x[i] = byte(i * i)
				}
				C.use_threads(C.int(threads))
				return &peer{
					outputs: berth.Outputs{"y": berth.Input("x", berth.Uint8, n).Cast(berth.Float32)},
					inputs:  berth.Values{"x": x},
					library: func() { C.widen(C.size_t(n), (*C.uchar)(first(x)), pointer(y)) },
					result:  func() []float32 { return y },
					free:    func() {},
				}, nil
			},
		})
	}
	for _, s := range [][2]int{{1536, 128}, {4096, 1024}} {
		rows, n := s[0], s[1]
		add := func(name string, of func(x *berth.Promise) (*berth.Promise, error), in func(x, y []float32)) {
			list = append(list, kernel{
				table: "elementwise", name: fmt.Sprintf("%s of %d rows of %d", name, rows, n), work: 8 * float64(rows*n), unit: "GB/s",
				make: func(threads int) (*peer, error) {
					x, y := normal(rows*n), make([]float32, rows*n)
					C.use_threads(C.int(threads))
					promise, err := of(berth.Input("x", berth.Float32, rows, n))
					if err != nil {
						return nil, err
					}
					return &peer{
						outputs: berth.Outputs{"y": promise},
						inputs:  berth.Values{"x": x},
						library: func() { in(x, y) },
						result:  func() []float32 { return y },
						free:    func() {},
					}, nil
				},
			})
		}
		add("softmax", func(x *berth.Promise) (*berth.Promise, error) { return x.Softmax(-1), nil },
			func(x, y []float32) { C.softmax(C.size_t(rows), C.size_t(n), pointer(x), pointer(y)) })
		scale, bias := normal(n), normal(n + 1)[:n]
		add("layer norm", func(x *berth.Promise) (*berth.Promise, error) {
			s, err := constant(scale, n)
			if err != nil {
				return nil, err
			}
			b, err := constant(bias, n)
			if err != nil {
				return nil, err
			}
			return x.LayerNorm(-1, s, b, 1e-5), nil
		}, func(x, y []float32) {
			C.layer_norm(C.size_t(rows), C.size_t(n), pointer(x), pointer(scale), pointer(bias), pointer(y))
		})
	}
	return list
}
