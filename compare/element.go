package main

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

// isFloat reports whether t is a type of floating-point numbers that is computed with.
func isFloat(t wire.DataType) bool {
	return t == wire.Float || t == wire.Double || t == wire.Float16 || t == wire.BFloat16
}

// appendElement appends x, rounded or wrapped round to type t.
func appendElement(b []byte, t wire.DataType, x float64) []byte {
	switch t {
	case wire.Float:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
	case wire.Double:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	case wire.Float16:
		return binary.LittleEndian.AppendUint16(b, uint16(dtype.ToF16(float32(x))))
	case wire.BFloat16:
		return binary.LittleEndian.AppendUint16(b, uint16(dtype.ToBF16(float32(x))))
	case wire.Bool:
		if x != 0 {
			return append(b, 1)
		}
		return append(b, 0)
	}
	return appendInt(b, t, int64(x))
}

// appendInt appends the low bits of x as an integer of type t.
func appendInt(b []byte, t wire.DataType, x int64) []byte {
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], uint64(x))
	return append(b, all[:t.Bits()/8]...)
}

// element returns element i of the encoded elements of type t.
func element(b []byte, t wire.DataType, i int) float64 {
	size := t.Bits() / 8
	b = b[i*size : (i+1)*size]
	switch t {
	case wire.Float:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case wire.Double:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case wire.Float16:
		return float64(dtype.F16(binary.LittleEndian.Uint16(b)).Float32())
	case wire.BFloat16:
		return float64(dtype.BF16(binary.LittleEndian.Uint16(b)).Float32())
	}
	u, signed := uint64(0), t == wire.Int8 || t == wire.Int16 || t == wire.Int32 || t == wire.Int64
	for k := len(b) - 1; k >= 0; k-- {
		u = u<<8 | uint64(b[k])
	}
	if signed {
		return float64(int64(u<<(64-t.Bits())) >> (64 - t.Bits()))
	}
	return float64(u)
}

// epsilon returns the distance from 1 to the next number of a type of floating-point
// numbers.
func epsilon(t wire.DataType) float64 {
	switch t {
	case wire.Float:
		return 0x1p-23
	case wire.Float16:
		return 0x1p-10
	case wire.BFloat16:
		return 0x1p-7
	}
	return 0x1p-52
}

// elements returns how many elements t has, by its extents.
func elements(t *wire.Tensor) int {
	n := 1
	for _, d := range t.Dims {
		n *= int(d)
	}
	return n
}

// text prints a tensor, and its elements where they are few.
func text(t *wire.Tensor) string {
	s := fmt.Sprintf("%v%v", t.DataType, t.Dims)
	n := elements(t)
	if n == 0 || n > 40 || t.DataType != wire.String && t.DataType.Bits() < 8 {
		return s
	}
	s += "{"
	for i := range n {
		if i > 0 {
			s += " "
		}
		if t.DataType == wire.String {
			s += fmt.Sprintf("%q", t.StringData[i])
		} else {
			s += fmt.Sprintf("%.9g", element(t.Raw, t.DataType, i))
		}
	}
	return s + "}"
}
