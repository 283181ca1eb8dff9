package kernel

import "github.com/berth-go/berth/dtype"

// lowConversions are those of a type of low precision.
type lowConversions struct{ widen, narrow, round Conversion }

// lowOf returns the conversions of t, a type of low precision.
func lowOf(t dtype.Type) lowConversions {
	switch t {
	case dtype.Int2:
		return lowBy(dtype.ToI2, dtype.I2.Int8)
	case dtype.Uint2:
		return lowBy(dtype.ToU2, dtype.U2.Uint8)
	case dtype.Int4:
		return lowBy(dtype.ToI4, dtype.I4.Int8)
	case dtype.Uint4:
		return lowBy(dtype.ToU4, dtype.U4.Uint8)
	case dtype.Float4E2M1:
		return lowBy(dtype.ToF4E2M1, dtype.F4E2M1.Float32)
	case dtype.Float8E4M3FN:
		return lowBy(dtype.ToF8E4M3FN, dtype.F8E4M3FN.Float32)
	case dtype.Float8E4M3FNUZ:
		return lowBy(dtype.ToF8E4M3FNUZ, dtype.F8E4M3FNUZ.Float32)
	case dtype.Float8E5M2:
		return lowBy(dtype.ToF8E5M2, dtype.F8E5M2.Float32)
	case dtype.Float8E5M2FNUZ:
		return lowBy(dtype.ToF8E5M2FNUZ, dtype.F8E5M2FNUZ.Float32)
	case dtype.Float8E8M0:
		return lowBy(dtype.ToF8E8M0, dtype.F8E8M0.Float32)
	}
	panic("kernel: " + t.String() + " is not of low precision")
}

// lowBy returns the conversions that two functions do element by element. A
// function call costs less than most of these do.
func lowBy[L, W any](narrow func(W) L, widen func(L) W) lowConversions {
	return lowConversions{
		widen:  conversion(func(dst []W, a []L) { Each(dst, a, widen) }),
		narrow: conversion(func(dst []L, a []W) { Each(dst, a, narrow) }),
		round:  conversion(func(dst, a []W) { Each(dst, a, func(x W) W { return widen(narrow(x)) }) }),
	}
}
