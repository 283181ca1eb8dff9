package main

import (
	"math"
	"math/rand/v2"

	"github.com/berth-go/berth/shape"
)

// The sizes of the network; see the package comment for its picture.
const (
	kernel  = 5
	padding = 2

	padded    = side + 2*padding // side of the padded image: 32
	channels1 = 8
	size1     = padded - kernel + 1 // side of the first convolution's result: 28
	pooled1   = size1 / 2           // 14
	channels2 = 16
	size2     = pooled1 - kernel + 1 // 10
	pooled2   = size2 / 2            // 5
	flat      = channels2 * pooled2 * pooled2
	hidden    = 64
)

// A parameter names one tensor of the network; the names are the ones in the ONNX file.
type parameter struct {
	name  string
	shape shape.Shape
	fanIn int // inputs of one output; 0 for a bias
}

// parameters lists the tensors of the network in the order in which they are stored.
func parameters() []parameter {
	return []parameter{
		{"conv1.weight", []int{channels1, 1, kernel, kernel}, kernel * kernel},
		{"conv1.bias", []int{channels1}, 0},
		{"conv2.weight", []int{channels2, channels1, kernel, kernel}, channels1 * kernel * kernel},
		{"conv2.bias", []int{channels2}, 0},
		{"dense1.weight", []int{hidden, flat}, flat},
		{"dense1.bias", []int{hidden}, 0},
		{"dense2.weight", []int{classes, hidden}, hidden},
		{"dense2.bias", []int{classes}, 0},
	}
}

// weights holds the tensors of the network, or a number for each of their elements, such as a
// gradient. Every tensor is a part of all, in the order of [parameters].
type weights struct {
	all                              []float32
	conv1, bias1, conv2, bias2       []float32
	dense1, offset1, dense2, offset2 []float32
}

func newWeights() *weights {
	w := &weights{}
	total := 0
	for _, p := range parameters() {
		total += p.shape.Elems()
	}
	w.all = make([]float32, total)
	rest := w.all
	windows := w.windows()
	for i, p := range parameters() {
		n := p.shape.Elems()
		*windows[i], rest = rest[:n:n], rest[n:]
	}
	return w
}

// windows returns the fields in the order of [parameters].
func (w *weights) windows() []*[]float32 {
	return []*[]float32{&w.conv1, &w.bias1, &w.conv2, &w.bias2, &w.dense1, &w.offset1, &w.dense2, &w.offset2}
}

// randomise draws the weights from a normal distribution of variance 2/fanIn, which keeps the
// variance of a signal through rectifiers (He, Zhang, Ren and Sun, 2015); a bias starts at zero.
func (w *weights) randomise(random *rand.Rand) {
	windows := w.windows()
	for i, p := range parameters() {
		if p.fanIn == 0 {
			clear(*windows[i])
			continue
		}
		deviation := math.Sqrt(2 / float64(p.fanIn))
		for j := range *windows[i] {
			(*windows[i])[j] = float32(random.NormFloat64() * deviation)
		}
	}
}

// A pass holds what one image makes in the network, and the gradients on the way back. It is
// made once and used for one image after another by one goroutine.
type pass struct {
	image         []float32 // [padded][padded], the border stays zero
	conv1         []float32 // [channels1][size1][size1], before the rectifier
	pool1         []float32 // [channels1][pooled1][pooled1], pooled and rectified
	winner1       []int32   // for each element of pool1, the index into conv1 it came from
	conv2         []float32 // [channels2][size2][size2]
	pool2         []float32 // [flat]
	winner2       []int32
	dense1        []float32 // [hidden], rectified
	probabilities []float32 // [classes]

	gradPool1, gradPool2, gradDense1, gradDense2 []float32
}

func newPass() *pass {
	return &pass{
		image:         make([]float32, padded*padded),
		conv1:         make([]float32, channels1*size1*size1),
		pool1:         make([]float32, channels1*pooled1*pooled1),
		winner1:       make([]int32, channels1*pooled1*pooled1),
		conv2:         make([]float32, channels2*size2*size2),
		pool2:         make([]float32, flat),
		winner2:       make([]int32, flat),
		dense1:        make([]float32, hidden),
		probabilities: make([]float32, classes),
		gradPool1:     make([]float32, channels1*pooled1*pooled1),
		gradPool2:     make([]float32, flat),
		gradDense1:    make([]float32, hidden),
		gradDense2:    make([]float32, classes),
	}
}

// forward runs the network on one image, [side*side] pixels, and returns the probabilities of
// the digits, which stay valid until the next call.
func (p *pass) forward(w *weights, image []float32) []float32 {
	for y := range side {
		copy(p.image[(y+padding)*padded+padding:][:side], image[y*side:])
	}
	convolve(p.conv1, p.image, w.conv1, w.bias1, 1, padded)
	poolRectified(p.pool1, p.winner1, p.conv1, size1)
	convolve(p.conv2, p.pool1, w.conv2, w.bias2, channels1, pooled1)
	poolRectified(p.pool2, p.winner2, p.conv2, size2)
	dense(p.dense1, p.pool2, w.dense1, w.offset1)
	for i, v := range p.dense1 {
		p.dense1[i] = max(v, 0)
	}
	dense(p.probabilities, p.dense1, w.dense2, w.offset2)
	softmax(p.probabilities)
	return p.probabilities
}

// convolve sets dst, [len(bias)][size-kernel+1]², to the valid cross-correlation of src,
// [inputs][size]², with weight, [len(bias)][inputs][kernel]².
//
// Products are rounded before they are added, here and below: the conversion keeps the compiler
// from fusing the two on architectures that can, so that the sums are the same on all.
func convolve(dst, src, weight, bias []float32, inputs, size int) {
	out := size - kernel + 1
	for c, b := range bias {
		plane := dst[c*out*out:][:out*out]
		for i := range plane {
			plane[i] = b
		}
		for in := range inputs {
			from := src[in*size*size:][:size*size]
			taps := weight[(c*inputs+in)*kernel*kernel:][:kernel*kernel]
			for y := range out {
				row := plane[y*out:][:out]
				for ky := range kernel {
					k := taps[ky*kernel:][:kernel]
					k0, k1, k2, k3, k4 := k[0], k[1], k[2], k[3], k[4]
					line := from[(y+ky)*size:][:size]
					for x := range row {
						v := line[x:][:kernel]
						row[x] += float32(k0*v[0]) + float32(k1*v[1]) + float32(k2*v[2]) +
							float32(k3*v[3]) + float32(k4*v[4])
					}
				}
			}
		}
	}
}

// poolRectified sets each element of dst to the largest of a 2x2 square of src or to zero if all
// four are negative, and notes where in src the largest is. Planes of src are [size]²; the
// maximum and the rectifier may change places because the rectifier never falls.
func poolRectified(dst []float32, winner []int32, src []float32, size int) {
	half := size / 2
	for i := range dst {
		plane, y, x := i/(half*half), i/half%half, i%half
		corner := plane*size*size + 2*y*size + 2*x
		best := corner
		for _, j := range [...]int{corner + 1, corner + size, corner + size + 1} {
			if src[j] > src[best] {
				best = j
			}
		}
		dst[i] = max(src[best], 0)
		winner[i] = int32(best)
	}
}

// dense sets dst to weight·src + bias, where weight is [len(dst)][len(src)].
func dense(dst, src, weight, bias []float32) {
	for i := range dst {
		sum := bias[i]
		row := weight[i*len(src):][:len(src)]
		for j, v := range src {
			sum += float32(row[j] * v)
		}
		dst[i] = sum
	}
}

// softmax replaces x by exp(x)/Σexp(x); the largest is taken off first so that nothing overflows.
func softmax(x []float32) {
	top := x[argmax(x)]
	var sum float32
	for i, v := range x {
		x[i] = float32(math.Exp(float64(v - top)))
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}

// argmax returns the index of the largest element of x, the first one if there are several.
func argmax(x []float32) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}
