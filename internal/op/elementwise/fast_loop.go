package elementwise

import "math"

// fastChunk is how many elements the loops of float32 take at a time.
const fastChunk = 128

// hasFast reports whether [fastFloat32] computes code.
func hasFast(code Code) bool {
	switch code {
	case Rsqrt, Expm1, Log, Log1p, Log2, Sin, Cos, Tan, Asin, Acos, Atan,
		Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Erf, Sigmoid, Softplus, Elu, Selu,
		Celu, Gelu, GeluTanh, Mish, Swish:
		return true
	}
	return false
}

// fastFloat32 computes a unary code over float32 by the functions of
// map_fast.go, with p and q its attributes.
//
// Elements are converted apart from the functions: on amd64 a conversion
// between the widths keeps the upper half of its target register, and next to
// a call it waits for the result of the one before.
func fastFloat32(code Code, dst, a []float32, p, q float64) {
	var chunk, spare [fastChunk]float64
	for len(dst) > 0 {
		n := min(len(dst), fastChunk)
		x := chunk[:n]
		for i, v := range a[:n] {
			x[i] = float64(v)
		}
		if !fastActivation(code, x, spare[:n], p, q) {
			fastFunction(code, x)
		}
		d := dst[:n]
		for i, v := range x {
			d[i] = float32(v)
		}
		dst, a = dst[n:], a[n:]
	}
}

// fastActivation applies an activation or exponential function to each of x, in
// place, with y as working memory. It reports false for codes that it does not
// have.
func fastActivation(code Code, x, y []float64, p, q float64) bool {
	switch code {
	case Expm1:
		expm1Chunk(x)
	case Tanh:
		tanhChunk(x, y)
	case Erf:
		erfChunk(x, y)
	case Sigmoid:
		sigmoidChunk(x)
	case Softplus:
		softplusChunk(x, y)
	case Elu:
		eluChunk(x, y, p, 1, 1)
	case Selu:
		eluChunk(x, y, p, q, 1)
	case Celu:
		eluChunk(x, y, p, 1, p)
	case Gelu:
		geluChunk(x, y)
	case GeluTanh:
		geluTanhChunk(x, y)
	case Mish:
		mishChunk(x, y)
	case Swish:
		swishChunk(x, y, p)
	default:
		return false
	}
	return true
}

// fastFunction applies one of the other functions to each of x, in place.
func fastFunction(code Code, x []float64) {
	switch code {
	case Rsqrt:
		for i, v := range x {
			x[i] = 1 / math.Sqrt(v)
		}
	case Log2:
		for i, v := range x {
			x[i] = fastLog(v) * math.Log2E
		}
	case Log:
		for i, v := range x {
			x[i] = fastLog(v)
		}
	case Log1p:
		for i, v := range x {
			x[i] = fastLog1p(v)
		}
	case Sin:
		for i, v := range x {
			x[i] = fastSin(v)
		}
	case Cos:
		for i, v := range x {
			x[i] = fastCos(v)
		}
	case Tan:
		for i, v := range x {
			x[i] = fastTan(v)
		}
	case Sinh:
		for i, v := range x {
			x[i] = fastSinh(v)
		}
	case Cosh:
		for i, v := range x {
			x[i] = fastCosh(v)
		}
	case Asinh:
		for i, v := range x {
			x[i] = fastAsinh(v)
		}
	case Acosh:
		for i, v := range x {
			x[i] = fastAcosh(v)
		}
	case Atanh:
		for i, v := range x {
			x[i] = fastAtanh(v)
		}
	case Asin:
		for i, v := range x {
			x[i] = math.Asin(v)
		}
	case Acos:
		for i, v := range x {
			x[i] = math.Acos(v)
		}
	case Atan:
		for i, v := range x {
			x[i] = math.Atan(v)
		}
	}
}
