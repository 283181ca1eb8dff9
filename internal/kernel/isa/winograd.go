package isa

// Winograd has the loops of a convolution by Winograd's minimal filtering, F(4×4, 3×3):
// tiles of 4×4 results out of tiles of 6×6 elements of an image, which overlap by 2.
//
// With the points 0, ±a, ±b and ∞, where a = 5/8 and b = 3/2, a line d of 6 elements
// becomes input(d), and a line m of 6 products becomes output(m):
//
//	input(d)  = [(d4 - s*d2) + p*d0,  u ± a*v,  x ± b*y,  (d5 - s*d3) + p*d1]
//	            with s = a²+b², p = a²b², u = d4 - b²*d2, v = d3 - b²*d1, x = d4 - a²*d2, y = d3 - a²*d1
//	output(m) = [(m0 + e) + f,  a*g + b*h,  a²*e + b²*f,  a³*g + (b³*h + m5)]
//	            with e = m1 + m2, g = m1 - m2, f = m3 + m4, h = m3 - m4
//
// Each product is fused with the sum it is in, and of two in one sum the first is, so
// that every set gives the same bits. All constants are numbers of float32. The loops
// may read up to [WinogradBeyond] elements behind those that they need.
type Winograd struct {
	// InRows is, for c < planes and x < n, with the line of the src[c*srcPlane+k*srcStep+x] for k < 6,
	//
	//	dst[c*dstPlane+i*dstStep+x] = input(line)[i]  for i < 6
	InRows func(dst, src []float32, planes, dstPlane, srcPlane, dstStep, srcStep, n int)
	// InCols is, for c < planes, i < 6 and t < n, with the line of the src[(6*c+i)*srcStep+4*t+k] for k < 6,
	//
	//	dst[c*dstPlane+(6*i+j)*dstStep+t] = input(line)[j]  for j < 6
	InCols func(dst, src []float32, planes, dstPlane, dstStep, srcStep, n int)
	// OutRows is, for c < planes and x < n, with the line of the src[c*srcPlane+k*srcStep+x] for k < 6,
	//
	//	dst[c*dstPlane+i*dstStep+x] = output(line)[i]  for i < lines <= 4
	//
	// Dst may be src, with the same planes and steps.
	OutRows func(dst, src []float32, planes, dstPlane, srcPlane, dstStep, srcStep, n, lines int)
	// OutCols is, for i < rows <= 4 and e < n, with the line of the src[(6*i+k)*srcStep+e/4] for k < 6,
	//
	//	dst[i*dstStep+e] = output(line)[e%4]
	OutCols func(dst, src []float32, rows, dstStep, srcStep, n int)
}

// WinogradBeyond is how many elements behind the last one needed the loops of
// [Winograd] may read: a tile of each lane of a register, and the two elements shared
// with the next tile.
const WinogradBeyond = 80

// The points of [Winograd] beside 0 and ∞. Their errors are a third to a half of those of
// 1 and 2, which Lavin and Gray take ("Fast Algorithms for Convolutional Neural
// Networks", 2015), and of 1 and 1/2.
const (
	winogradA = 5.0 / 8
	winogradB = 3.0 / 2
)

// WinogradWeights transforms 3×3 weights for [Winograd]: to[6*i+j], in float64, rounded once.
//
// Row r of the matrix that does so has the values at a point of 1, x and x², divided
// by the product of the differences from the other points.
func WinogradWeights(to *[36]float32, w []float32) {
	const a, b = winogradA, winogradB
	na, nb := 2*a*a*(a*a-b*b), 2*b*b*(b*b-a*a)
	transform := func(w0, w1, w2 float64) [6]float64 {
		// The even and the odd part at ±a, and at ±b.
		ea, oa := w0+float64(a*a*w2), float64(a*w1)
		eb, ob := w0+float64(b*b*w2), float64(b*w1)
		return [6]float64{w0 / (a * a * b * b), (ea + oa) / na, (ea - oa) / na, (eb + ob) / nb, (eb - ob) / nb, w2}
	}
	var columns [3][6]float64
	for j := range columns {
		columns[j] = transform(float64(w[j]), float64(w[3+j]), float64(w[6+j]))
	}
	for i := range 6 {
		for j, v := range transform(columns[0][i], columns[1][i], columns[2][i]) {
			to[6*i+j] = float32(v)
		}
	}
}

var genericWinograd = Winograd{InRows: winogradInRows, InCols: winogradInCols, OutRows: winogradOutRows, OutCols: winogradOutCols}

func winogradIn(d *[6]float32) [6]float32 {
	const a, b = winogradA, winogradB
	u, v := fma(-b*b, d[2], d[4]), fma(-b*b, d[1], d[3])
	x, y := fma(-a*a, d[2], d[4]), fma(-a*a, d[1], d[3])
	return [6]float32{
		fma(a*a*b*b, d[0], fma(-a*a-b*b, d[2], d[4])),
		fma(a, v, u), fma(-a, v, u),
		fma(b, y, x), fma(-b, y, x),
		fma(a*a*b*b, d[1], fma(-a*a-b*b, d[3], d[5])),
	}
}

func winogradOut(m *[6]float32) [4]float32 {
	const a, b = winogradA, winogradB
	e, g, f, h := m[1]+m[2], m[1]-m[2], m[3]+m[4], m[3]-m[4]
	return [4]float32{
		(m[0] + e) + f,
		fma(a, g, float32(b*h)),
		fma(a*a, e, float32(b*b*f)),
		fma(a*a*a, g, fma(b*b*b, h, m[5])),
	}
}

func winogradInRows(dst, src []float32, planes, dstPlane, srcPlane, dstStep, srcStep, n int) {
	var d [6]float32
	for c := range planes {
		for x := range n {
			for k := range d {
				d[k] = src[c*srcPlane+k*srcStep+x]
			}
			for i, v := range winogradIn(&d) {
				dst[c*dstPlane+i*dstStep+x] = v
			}
		}
	}
}

func winogradInCols(dst, src []float32, planes, dstPlane, dstStep, srcStep, n int) {
	for c := range planes {
		for i := range 6 {
			for t := range n {
				d := [6]float32(src[(6*c+i)*srcStep+4*t:])
				for j, v := range winogradIn(&d) {
					dst[c*dstPlane+(6*i+j)*dstStep+t] = v
				}
			}
		}
	}
}

func winogradOutRows(dst, src []float32, planes, dstPlane, srcPlane, dstStep, srcStep, n, lines int) {
	var m [6]float32
	for c := range planes {
		for x := range n {
			for k := range m {
				m[k] = src[c*srcPlane+k*srcStep+x]
			}
			y := winogradOut(&m)
			for i, v := range y[:lines] {
				dst[c*dstPlane+i*dstStep+x] = v
			}
		}
	}
}

func winogradOutCols(dst, src []float32, rows, dstStep, srcStep, n int) {
	var m [6]float32
	for i := range rows {
		for e := 0; e < n; e += 4 {
			for k := range m {
				m[k] = src[(6*i+k)*srcStep+e/4]
			}
			y := winogradOut(&m)
			copy(dst[i*dstStep+e:i*dstStep+n], y[:])
		}
	}
}
