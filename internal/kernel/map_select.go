package kernel

import "github.com/berth-go/berth/dtype"

// loopsOf returns the loops of a code over operands of type t, which is no
// half type. Codes whose operands differ in type, and comparisons the other
// way round, are resolved before.
func loopsOf(code MapCode, t dtype.Type) mapLoops {
	if code == MapIdent {
		return mapLoops{identLoop()}
	}
	if code == MapWhere {
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
		if code == MapExp {
			return mapLoops{loop1(expFloat32)}
		}
		if hasFast(code) {
			return mapLoops{loop1p(func(dst, a []float32, p, q float64) { fastFloat32(code, dst, a, p, q) })}
		}
		return floatLoops[float32](code)
	}
	return floatLoops[float64](code)
}

func boolLoops(code MapCode) mapLoops {
	switch code {
	case MapNot:
		return mapLoops{loop1(boolNot)}
	case MapAnd:
		return mapLoops{loop2(bitAnd[uint8])}
	case MapOr:
		return mapLoops{loop2(bitOr[uint8])}
	case MapXor:
		return mapLoops{loop2(bitXor[uint8])}
	}
	return numberLoops[uint8](code)
}

func numberLoops[T Number](code MapCode) mapLoops {
	switch code {
	case MapNeg:
		return mapLoops{loop1(neg[T])}
	case MapSign:
		return mapLoops{loop1(sign[T])}
	case MapSquare:
		return mapLoops{loop1(square[T])}
	case MapRelu:
		return mapLoops{loop1(relu[T])}
	case MapAdd:
		return commutative(loop2(add[T]), loop2s(addScalar[T]))
	case MapSub:
		return mapLoops{0: loop2(sub[T]), 0b10: loop2s(subScalar[T]), 0b01: scalar2(scalarSub[T])}
	case MapMul:
		return commutative(loop2(mul[T]), loop2s(mulScalar[T]))
	case MapMinimum:
		return commutative(loop2(minimum[T]), loop2s(minScalar[T]))
	case MapMaximum:
		return commutative(loop2(maximum[T]), loop2s(maxScalar[T]))
	case MapClip:
		return mapLoops{0: loop3(clip[T]), 0b110: loop3(clipScalars[T])}
	case MapPRelu:
		return mapLoops{0: loop2(prelu[T]), 0b10: loop2s(preluScalar[T])}
	case MapEqual:
		return commutative(loop2(equal[T]), loop2s(equalScalar[T]))
	case MapNotEqual:
		return commutative(loop2(notEqual[T]), loop2s(notEqualScalar[T]))
	case MapLess:
		return mapLoops{0: loop2(less[T]), 0b10: loop2s(lessScalar[T]), 0b01: scalar2(scalarLess[T])}
	case MapLessEqual:
		return mapLoops{0: loop2(lessEqual[T]), 0b10: loop2s(lessEqualScalar[T]), 0b01: scalar2(scalarLessEqual[T])}
	}
	return mapLoops{}
}

func integerLoops[T Integer](code MapCode) mapLoops {
	switch code {
	case MapAbs:
		return mapLoops{loop1(absInteger[T])}
	case MapDiv:
		return mapLoops{loop2try(divInteger[T])}
	case MapMod:
		return mapLoops{loop2try(modInteger[T])}
	case MapFmod:
		return mapLoops{loop2try(fmodInteger[T])}
	case MapFloorDiv:
		return mapLoops{loop2try(floorDivInteger[T])}
	case MapBitNot:
		return mapLoops{loop1(bitNot[T])}
	case MapBitAnd:
		return mapLoops{loop2(bitAnd[T])}
	case MapBitOr:
		return mapLoops{loop2(bitOr[T])}
	case MapBitXor:
		return mapLoops{loop2(bitXor[T])}
	case MapShiftLeft:
		return mapLoops{loop2(shiftLeft[T])}
	case MapShiftRight:
		return mapLoops{loop2(shiftRight[T])}
	}
	return numberLoops[T](code)
}

// powLoops returns the powers of elements of type t to exponents that have
// been converted to float64, int64 or uint64.
func powLoops(t, exponent dtype.Type) mapLoops {
	switch t {
	case dtype.Float32:
		return mapLoops{0: loop2(powFloat[float32]), 0b10: loop2s(powScalar[float32])}
	case dtype.Float64:
		return mapLoops{0: loop2(powFloat[float64]), 0b10: loop2s(powScalar[float64])}
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

func powIntegerLoops[T Integer](exponent dtype.Type) mapLoops {
	switch exponent {
	case dtype.Float64:
		return mapLoops{loop2(powFraction[T])}
	case dtype.Int64:
		return mapLoops{loop2try(powSigned[T])}
	}
	return mapLoops{loop2(powUnsigned[T])}
}

func floatLoops[T Float](code MapCode) mapLoops {
	switch code {
	case MapAbs:
		return mapLoops{loop1(absFloat[T])}
	case MapReciprocal:
		return mapLoops{loop1(reciprocal[T])}
	case MapSqrt:
		return mapLoops{loop1(sqrtFloat[T])}
	case MapRsqrt:
		return mapLoops{loop1(rsqrtFloat[T])}
	case MapFloor:
		return mapLoops{loop1(floorFloat[T])}
	case MapCeil:
		return mapLoops{loop1(ceilFloat[T])}
	case MapRound:
		return mapLoops{loop1(roundEvenFloat[T])}
	case MapTrunc:
		return mapLoops{loop1(truncFloat[T])}
	case MapIsNaN:
		return mapLoops{loop1(isNaN[T])}
	case MapIsInf:
		return mapLoops{loop1p(isInf[T])}
	case MapSoftsign:
		return mapLoops{loop1(softsign[T])}
	case MapLeakyRelu:
		return mapLoops{loop1p(leakyRelu[T])}
	case MapElu:
		return mapLoops{loop1p(elu[T])}
	case MapSelu:
		return mapLoops{loop1p(selu[T])}
	case MapCelu:
		return mapLoops{loop1p(celu[T])}
	case MapThresholdedRelu:
		return mapLoops{loop1p(thresholdedRelu[T])}
	case MapHardSigmoid:
		return mapLoops{loop1p(hardSigmoid[T])}
	case MapHardSwish:
		return mapLoops{loop1(hardSwish[T])}
	case MapSwish:
		return mapLoops{loop1p(swish[T])}
	case MapShrink:
		return mapLoops{loop1p(shrink[T])}
	case MapDiv:
		return mapLoops{0: loop2(divFloat[T]), 0b10: loop2s(divScalar[T]), 0b01: scalar2(scalarDiv[T])}
	case MapMod:
		return mapLoops{loop2(modFloat[T])}
	case MapFmod:
		return mapLoops{loop2(fmodFloat[T])}
	case MapFloorDiv:
		return mapLoops{loop2(floorDivFloat[T])}
	case MapAtan2:
		return mapLoops{loop2(atan2Float[T])}
	}
	if f := functionLoop[T](code); f != nil {
		return mapLoops{f}
	}
	return numberLoops[T](code)
}

// functionLoop returns the loop of a transcendental function, or nil.
func functionLoop[T Float](code MapCode) mapLoop {
	switch code {
	case MapExp:
		return loop1(expFloat[T])
	case MapExpm1:
		return loop1(expm1Float[T])
	case MapLog:
		return loop1(logFloat[T])
	case MapLog1p:
		return loop1(log1pFloat[T])
	case MapLog2:
		return loop1(log2Float[T])
	case MapSin:
		return loop1(sinFloat[T])
	case MapCos:
		return loop1(cosFloat[T])
	case MapTan:
		return loop1(tanFloat[T])
	case MapAsin:
		return loop1(asinFloat[T])
	case MapAcos:
		return loop1(acosFloat[T])
	case MapAtan:
		return loop1(atanFloat[T])
	case MapSinh:
		return loop1(sinhFloat[T])
	case MapCosh:
		return loop1(coshFloat[T])
	case MapTanh:
		return loop1(tanhFloat[T])
	case MapAsinh:
		return loop1(asinhFloat[T])
	case MapAcosh:
		return loop1(acoshFloat[T])
	case MapAtanh:
		return loop1(atanhFloat[T])
	case MapErf:
		return loop1(erfFloat[T])
	case MapSigmoid:
		return loop1(sigmoidFloat[T])
	case MapSoftplus:
		return loop1(softplusFloat[T])
	case MapGelu:
		return loop1(geluFloat[T])
	case MapGeluTanh:
		return loop1(geluTanhFloat[T])
	case MapMish:
		return loop1(mishFloat[T])
	}
	return nil
}
