package kernel

import "math"

// fastChunk is how many elements the loops of float32 take at a time.
const fastChunk = 128

// hasFast reports whether [fastFloat32] computes code.
func hasFast(code MapCode) bool {
	switch code {
	case MapRsqrt, MapExpm1, MapLog, MapLog1p, MapLog2, MapSin, MapCos, MapTan, MapAsin, MapAcos, MapAtan,
		MapSinh, MapCosh, MapTanh, MapAsinh, MapAcosh, MapAtanh, MapErf, MapSigmoid, MapSoftplus, MapElu, MapSelu,
		MapCelu, MapGelu, MapGeluTanh, MapMish, MapSwish:
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
func fastFloat32(code MapCode, dst, a []float32, p, q float64) {
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
func fastActivation(code MapCode, x, y []float64, p, q float64) bool {
	switch code {
	case MapExpm1:
		expm1Chunk(x)
	case MapTanh:
		tanhChunk(x, y)
	case MapErf:
		erfChunk(x, y)
	case MapSigmoid:
		sigmoidChunk(x)
	case MapSoftplus:
		softplusChunk(x, y)
	case MapElu:
		eluChunk(x, y, p, 1, 1)
	case MapSelu:
		eluChunk(x, y, p, q, 1)
	case MapCelu:
		eluChunk(x, y, p, 1, p)
	case MapGelu:
		geluChunk(x, y)
	case MapGeluTanh:
		geluTanhChunk(x, y)
	case MapMish:
		mishChunk(x, y)
	case MapSwish:
		swishChunk(x, y, p)
	default:
		return false
	}
	return true
}

// fastFunction applies one of the other functions to each of x, in place.
func fastFunction(code MapCode, x []float64) {
	switch code {
	case MapRsqrt:
		for i, v := range x {
			x[i] = 1 / math.Sqrt(v)
		}
	case MapLog2:
		for i, v := range x {
			x[i] = fastLog(v) * math.Log2E
		}
	case MapLog:
		for i, v := range x {
			x[i] = fastLog(v)
		}
	case MapLog1p:
		for i, v := range x {
			x[i] = fastLog1p(v)
		}
	case MapSin:
		for i, v := range x {
			x[i] = fastSin(v)
		}
	case MapCos:
		for i, v := range x {
			x[i] = fastCos(v)
		}
	case MapTan:
		for i, v := range x {
			x[i] = fastTan(v)
		}
	case MapSinh:
		for i, v := range x {
			x[i] = fastSinh(v)
		}
	case MapCosh:
		for i, v := range x {
			x[i] = fastCosh(v)
		}
	case MapAsinh:
		for i, v := range x {
			x[i] = fastAsinh(v)
		}
	case MapAcosh:
		for i, v := range x {
			x[i] = fastAcosh(v)
		}
	case MapAtanh:
		for i, v := range x {
			x[i] = fastAtanh(v)
		}
	case MapAsin:
		for i, v := range x {
			x[i] = math.Asin(v)
		}
	case MapAcos:
		for i, v := range x {
			x[i] = math.Acos(v)
		}
	case MapAtan:
		for i, v := range x {
			x[i] = math.Atan(v)
		}
	}
}
