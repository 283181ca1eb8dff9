package elementwise

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// loopsOf returns the loops of a code over operands of type t, which is no
// half type. Codes whose operands differ in type, and comparisons the other
// way round, are resolved before.
func loopsOf(code Code, t dtype.Type) loops {
	if code == Ident {
		return loops{identLoop()}
	}
	if code == Where {
		return whereLoops(t.Size())
	}
	switch t {
	case dtype.Bool:
		return boolLoops(code)
	case dtype.Uint8:
		return integerLoops[uint8](code)
	case dtype.Uint16:
		return integerLoops[uint16](code)
	case dtype.Uint32:
		return integerLoops[uint32](code)
	case dtype.Uint64:
		return integerLoops[uint64](code)
	case dtype.Int8:
		return integerLoops[int8](code)
	case dtype.Int16:
		return integerLoops[int16](code)
	case dtype.Int32:
		return integerLoops[int32](code)
	case dtype.Int64:
		return integerLoops[int64](code)
	case dtype.Float32:
		if code == Exp {
			return loops{loop1(kernel.ExpFloat32)}
		}
		if hasFast(code) {
			return loops{loop1p(func(dst, a []float32, p, q float64) { fastFloat32(code, dst, a, p, q) })}
		}
		return floatLoops[float32](code)
	}
	return floatLoops[float64](code)
}

func boolLoops(code Code) loops {
	switch code {
	case Not:
		return loops{loop1(boolNot)}
	case And:
		return loops{loop2(bitAnd[uint8])}
	case Or:
		return loops{loop2(bitOr[uint8])}
	case Xor:
		return loops{loop2(bitXor[uint8])}
	}
	return numberLoops[uint8](code)
}

func numberLoops[T kernel.Number](code Code) loops {
	switch code {
	case Neg:
		return loops{loop1(neg[T])}
	case Sign:
		return loops{loop1(sign[T])}
	case Square:
		return loops{loop1(square[T])}
	case Relu:
		return loops{loop1(relu[T])}
	case Add:
		return commutative(loop2(add[T]), loop2s(addScalar[T]))
	case Sub:
		return loops{0: loop2(sub[T]), 0b10: loop2s(subScalar[T]), 0b01: scalar2(scalarSub[T])}
	case Mul:
		return commutative(loop2(mul[T]), loop2s(mulScalar[T]))
	case Minimum:
		return commutative(loop2(minimum[T]), loop2s(minScalar[T]))
	case Maximum:
		return commutative(loop2(maximum[T]), loop2s(maxScalar[T]))
	case Clip:
		return loops{0: loop3(clip[T]), 0b110: loop3(clipScalars[T])}
	case PRelu:
		return loops{0: loop2(prelu[T]), 0b10: loop2s(preluScalar[T])}
	case Equal:
		return commutative(loop2(equal[T]), loop2s(equalScalar[T]))
	case NotEqual:
		return commutative(loop2(notEqual[T]), loop2s(notEqualScalar[T]))
	case Less:
		return loops{0: loop2(less[T]), 0b10: loop2s(lessScalar[T]), 0b01: scalar2(scalarLess[T])}
	case LessEqual:
		return loops{0: loop2(lessEqual[T]), 0b10: loop2s(lessEqualScalar[T]), 0b01: scalar2(scalarLessEqual[T])}
	}
	return loops{}
}

func integerLoops[T kernel.Integer](code Code) loops {
	switch code {
	case Abs:
		return loops{loop1(absInteger[T])}
	case Div:
		return loops{loop2try(divInteger[T])}
	case Mod:
		return loops{loop2try(modInteger[T])}
	case Fmod:
		return loops{loop2try(fmodInteger[T])}
	case FloorDiv:
		return loops{loop2try(floorDivInteger[T])}
	case BitNot:
		return loops{loop1(bitNot[T])}
	case BitAnd:
		return loops{loop2(bitAnd[T])}
	case BitOr:
		return loops{loop2(bitOr[T])}
	case BitXor:
		return loops{loop2(bitXor[T])}
	case ShiftLeft:
		return loops{loop2(shiftLeft[T])}
	case ShiftRight:
		return loops{loop2(shiftRight[T])}
	}
	return numberLoops[T](code)
}

// powLoops returns the powers of elements of type t to exponents that have
// been converted to float64, int64 or uint64.
func powLoops(t, exponent dtype.Type) loops {
	switch t {
	case dtype.Float32:
		return loops{0: loop2(powFloat[float32]), 0b10: loop2s(powScalar[float32])}
	case dtype.Float64:
		return loops{0: loop2(powFloat[float64]), 0b10: loop2s(powScalar[float64])}
	case dtype.Uint8:
		return powIntegerLoops[uint8](exponent)
	case dtype.Uint16:
		return powIntegerLoops[uint16](exponent)
	case dtype.Uint32:
		return powIntegerLoops[uint32](exponent)
	case dtype.Uint64:
		return powIntegerLoops[uint64](exponent)
	case dtype.Int8:
		return powIntegerLoops[int8](exponent)
	case dtype.Int16:
		return powIntegerLoops[int16](exponent)
	case dtype.Int32:
		return powIntegerLoops[int32](exponent)
	}
	return powIntegerLoops[int64](exponent)
}

func powIntegerLoops[T kernel.Integer](exponent dtype.Type) loops {
	switch exponent {
	case dtype.Float64:
		return loops{loop2(powFraction[T])}
	case dtype.Int64:
		return loops{loop2try(powSigned[T])}
	}
	return loops{loop2(powUnsigned[T])}
}

func floatLoops[T kernel.Float](code Code) loops {
	switch code {
	case Abs:
		return loops{loop1(absFloat[T])}
	case Reciprocal:
		return loops{loop1(reciprocal[T])}
	case Sqrt:
		return loops{loop1(sqrtFloat[T])}
	case Rsqrt:
		return loops{loop1(rsqrtFloat[T])}
	case Floor:
		return loops{loop1(floorFloat[T])}
	case Ceil:
		return loops{loop1(ceilFloat[T])}
	case Round:
		return loops{loop1(roundEvenFloat[T])}
	case Trunc:
		return loops{loop1(truncFloat[T])}
	case IsNaN:
		return loops{loop1(isNaN[T])}
	case IsInf:
		return loops{loop1p(isInf[T])}
	case Softsign:
		return loops{loop1(softsign[T])}
	case LeakyRelu:
		return loops{loop1p(leakyRelu[T])}
	case Elu:
		return loops{loop1p(elu[T])}
	case Selu:
		return loops{loop1p(selu[T])}
	case Celu:
		return loops{loop1p(celu[T])}
	case ThresholdedRelu:
		return loops{loop1p(thresholdedRelu[T])}
	case HardSigmoid:
		return loops{loop1p(hardSigmoid[T])}
	case HardSwish:
		return loops{loop1(hardSwish[T])}
	case Swish:
		return loops{loop1p(swish[T])}
	case Shrink:
		return loops{loop1p(shrink[T])}
	case Div:
		return loops{0: loop2(divFloat[T]), 0b10: loop2s(divScalar[T]), 0b01: scalar2(scalarDiv[T])}
	case Mod:
		return loops{loop2(modFloat[T])}
	case Fmod:
		return loops{loop2(fmodFloat[T])}
	case FloorDiv:
		return loops{loop2(floorDivFloat[T])}
	case Atan2:
		return loops{loop2(atan2Float[T])}
	}
	if f := functionLoop[T](code); f != nil {
		return loops{f}
	}
	return numberLoops[T](code)
}

// functionLoop returns the loop of a transcendental function, or nil.
func functionLoop[T kernel.Float](code Code) loop {
	switch code {
	case Exp:
		return loop1(expFloat[T])
	case Expm1:
		return loop1(expm1Float[T])
	case Log:
		return loop1(logFloat[T])
	case Log1p:
		return loop1(log1pFloat[T])
	case Log2:
		return loop1(log2Float[T])
	case Sin:
		return loop1(sinFloat[T])
	case Cos:
		return loop1(cosFloat[T])
	case Tan:
		return loop1(tanFloat[T])
	case Asin:
		return loop1(asinFloat[T])
	case Acos:
		return loop1(acosFloat[T])
	case Atan:
		return loop1(atanFloat[T])
	case Sinh:
		return loop1(sinhFloat[T])
	case Cosh:
		return loop1(coshFloat[T])
	case Tanh:
		return loop1(tanhFloat[T])
	case Asinh:
		return loop1(asinhFloat[T])
	case Acosh:
		return loop1(acoshFloat[T])
	case Atanh:
		return loop1(atanhFloat[T])
	case Erf:
		return loop1(erfFloat[T])
	case Sigmoid:
		return loop1(sigmoidFloat[T])
	case Softplus:
		return loop1(softplusFloat[T])
	case Gelu:
		return loop1(geluFloat[T])
	case GeluTanh:
		return loop1(geluTanhFloat[T])
	case Mish:
		return loop1(mishFloat[T])
	}
	return nil
}
