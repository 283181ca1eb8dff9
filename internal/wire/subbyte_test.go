package wire

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPack compares packed elements with the digits of one large number.
func TestPack(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for d := Float; d.Valid(); d++ {
		bits := d.Bits()
		for n := range 20 {
			elements := make([]byte, n)
			for i := range elements {
				elements[i] = byte(rng.Uint32())
			}
			if bits == 0 || bits >= 8 {
				if got := d.Pack(elements); !bytes.Equal(got, elements) {
					t.Errorf("%v: %x is packed as %x", d, elements, got)
				}
				if got := d.Unpack(elements, n); !bytes.Equal(got, elements) {
					t.Errorf("%v: %x is unpacked as %x", d, elements, got)
				}
				continue
			}
			number := new(big.Int)
			want := make([]byte, n) // unpacked
			for i, e := range slices.Backward(elements) {
				value := int(e) % (1 << bits)
				number.Or(number.Lsh(number, uint(bits)), big.NewInt(int64(value)))
				if want[i] = byte(value); (d == Int4 || d == Int2) && value >= 1<<(bits-1) {
					want[i] = byte(value - 1<<bits)
				}
			}
			packed := number.FillBytes(make([]byte, (n*bits+7)/8))
			slices.Reverse(packed)
			if got := d.Pack(elements); !bytes.Equal(got, packed) {
				t.Errorf("%v: %x is packed as %x, want %x", d, elements, got, packed)
			}
			if got := d.Unpack(packed, n); !bytes.Equal(got, want) {
				t.Errorf("%v: %x is unpacked as %x, want %x", d, packed, got, want)
			}
		}
	}
}
