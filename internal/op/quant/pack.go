package quant

import (
	"encoding/binary"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// packQuads lays rows [i0, i1) and columns [k0, k1) of m out as strips of the given
// width in rows, of quads of columns: row i, column k goes to
//
//	dst[i/width*width*depth + k/4*4*width + i%width*4 + k%4]
//
// where depth is the number of columns in whole quads, and i and k count from i0 and k0.
// Bytes are flipped. Missing columns of the last quad become 0; missing rows of the
// last strip remain what they are.
func packQuads(t *isa.IntegerTile, dst []uint8, m gemm.Matrix[uint8], i0, i1, k0, k1, width int, flip uint8) {
	n := quads(k1 - k0)
	whole := (k1 - k0) / 4
	at := m.At + i0*m.Row + k0*m.Col
	for i := i0; i < i1; i += width {
		strip, w := dst[(i-i0)*4*n:], min(width, i1-i)
		from := at + (i-i0)*m.Row
		switch {
		case whole == 0:
		case m.Row == 1 && m.Col >= 0:
			t.Interleave(strip, m.Data[from:], w, whole, 4*width, m.Col, flip)
		case m.Col == 1:
			flips := uint32(flip) * 0x01010101
			for l := range w {
				row, to := m.Data[from+l*m.Row:][:4*whole], strip[4*l:]
				for q := 0; q < len(row); q += 4 {
					binary.LittleEndian.PutUint32(to[q*width:], binary.LittleEndian.Uint32(row[q:])^flips)
				}
			}
		default:
			for l := range w {
				for k := range 4 * whole {
					strip[k/4*4*width+4*l+k%4] = m.Data[from+l*m.Row+k*m.Col] ^ flip
				}
			}
		}
		if whole == n {
			continue
		}
		last := strip[whole*4*width:]
		for l := range w {
			q := last[4*l : 4*l+4]
			clear(q)
			for e := range k1 - k0 - 4*whole {
				q[e] = m.Data[from+l*m.Row+(4*whole+e)*m.Col] ^ flip
			}
		}
	}
}

// prepackedAt returns where the block of terms from k0 on begins in a prepacked matrix
// of so many rows in strips of the given height.
func prepackedAt(rows, k0, height int) int { return gemm.Prepacked(rows, k0, height) }

// prepackedBytes returns the size of a matrix of the given rows and columns as
// [product.prepack] writes it.
func prepackedBytes(rows, cols, height int) int {
	return kernel.Carved[int32](rows) + kernel.Carved[uint8](gemm.Prepacked(rows, 4*quads(cols), height))
}

// prepack writes the sums of the rows of a matrix, flipped, and behind these its rows in
// strips of the given height, block of terms by block. That for the right of a product
// is transposed.
func (p *product) prepack(dst []byte, m gemm.Matrix[uint8], rows, cols, height int, flip uint8) {
	strips, sums := prepacked(dst, rows)
	clear(strips)
	for k0 := 0; k0 < cols; k0 += blockK {
		packQuads(p.tile, strips[prepackedAt(rows, k0, height):], m, 0, rows, k0, min(k0+blockK, cols), height, flip)
	}
	for i := range sums {
		s := int32(0)
		for k := range cols { // the signed operand of a product, whatever it was
			s += int32(int8(m.Data[m.At+i*m.Row+k*m.Col] ^ flip))
		}
		sums[i] = s
	}
}

// prepacked returns what [product.prepack] has written of so many rows, nil where it has
// not.
func prepacked(data []byte, rows int) (strips []uint8, sums []int32) {
	if data == nil {
		return nil, nil
	}
	sums = kernel.Carve[int32](&data, rows)
	return data, sums
}
