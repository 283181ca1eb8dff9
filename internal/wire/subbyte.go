package wire

import "slices"

// In files, elements of 4 and 2 bits share bytes, filled from the least
// significant bits up.

// Unpack returns the first n elements that data has in packed form, each in a byte
// of its own; the sign of Int4 and Int2 fills the byte. Data of a type of whole
// bytes is returned as it is. Data must have as many bytes as the elements take.
func (d DataType) Unpack(data []byte, n int) []byte {
	bits := d.Bits()
	if bits%8 == 0 {
		return data
	}
	out := make([]byte, n)
	unused := 8 - bits
	for i := range out {
		b := data[i*bits/8] >> (i * bits % 8) << unused
		if d == Int4 || d == Int2 {
			out[i] = byte(int8(b) >> unused)
		} else {
			out[i] = b >> unused
		}
	}
	return out
}

// Pack returns elements in packed form, the reverse of [DataType.Unpack]. Bits of
// the last byte that no element takes are 0.
func (d DataType) Pack(elements []byte) []byte {
	bits := d.Bits()
	if bits%8 == 0 {
		return slices.Clone(elements)
	}
	out := make([]byte, (len(elements)*bits+7)/8)
	for i, e := range elements {
		out[i*bits/8] |= e & (1<<bits - 1) << (i * bits % 8)
	}
	return out
}
