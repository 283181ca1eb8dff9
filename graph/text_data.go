package graph

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// listed is the most elements that are printed one by one.
const listed = 64

func (w *textWriter) elements(t Type, data []byte) {
	n := len(data) / t.DType.Size()
	if n > listed {
		if g, ok := generatorOf(t.DType, data); ok {
			w.WriteString(g.String())
			return
		}
		w.WriteString("base64:")
		w.WriteString(base64.StdEncoding.EncodeToString(data))
		return
	}
	w.WriteByte('[')
	for i := range n {
		if i > 0 {
			w.WriteByte(' ')
		}
		w.WriteString(elementText(kernel.ScalarAt(t.DType, data, i)))
	}
	w.WriteByte(']')
}

// elementText prints an element without its type.
func elementText(s kernel.Scalar) string {
	text, _, _ := strings.Cut(s.String(), ":")
	return text
}

// generatorOf returns the generator that makes data, if there is one.
func generatorOf(t dtype.Type, data []byte) (generator, bool) {
	const seeds = 100
	tries := []generator{{kind: "iota"}, {kind: "fill", value: kernel.ScalarAt(t, data, 0)}}
	for seed := range uint64(seeds) {
		tries = append(tries, generator{kind: "hash", seed: seed})
	}
	i := slices.IndexFunc(tries, func(g generator) bool { return g.makes(t, data) })
	if i < 0 {
		return generator{}, false
	}
	return tries[i], true
}

// makes reports whether data is what g generates.
func (g generator) makes(t dtype.Type, data []byte) bool {
	size := t.Size()
	element := kernel.Alloc(size)
	for i := range len(data) / size {
		g.element(t, i).Put(element)
		if !bytes.Equal(element, data[i*size:(i+1)*size]) {
			return false
		}
	}
	return true
}

// parseData returns the storage that s begins with, which the layout l does
// not leave.
func parseData(t Type, l shape.Layout, s string) (data []byte, rest string, err error) {
	if list, ok := strings.CutPrefix(s, "["); ok {
		list, rest, ok := strings.Cut(list, "]")
		if !ok {
			return nil, "", fmt.Errorf("no ] behind the data")
		}
		words := strings.Fields(list)
		if err := l.Within(len(words)); err != nil {
			return nil, "", err
		}
		size := t.DType.Size()
		data = kernel.Alloc(len(words) * size)
		for i, word := range words {
			v, err := kernel.ParseScalar(word + ":" + t.DType.String())
			if err != nil {
				return nil, "", err
			}
			v.Put(data[i*size:])
		}
		return data, strings.TrimSpace(rest), nil
	}
	word, rest, _ := strings.Cut(s, " ")
	if code, ok := strings.CutPrefix(word, "base64:"); ok {
		raw, err := base64.StdEncoding.DecodeString(code)
		if err != nil {
			return nil, "", err
		}
		data = kernel.Alloc(len(raw))
		copy(data, raw)
		return data, strings.TrimSpace(rest), l.Within(len(raw) / t.DType.Size())
	}
	g, err := parseGenerator(t.DType, word)
	if err != nil {
		return nil, "", err
	}
	// Few characters ask for much memory here.
	const most = 1 << 22
	if err := l.Within(most); err != nil {
		return nil, "", fmt.Errorf("generated data has at most %d elements: %w", most, err)
	}
	_, hi := l.Bounds()
	size := t.DType.Size()
	data = kernel.Alloc(hi * size)
	for i := range hi {
		g.element(t.DType, i).Put(data[i*size:])
	}
	return data, strings.TrimSpace(rest), nil
}

// A generator makes the data of a constant from a few characters.
type generator struct {
	kind  string // iota, fill or hash
	value kernel.Scalar
	seed  uint64
}

func parseGenerator(t dtype.Type, s string) (g generator, err error) {
	kind, rest, args := strings.Cut(s, "(")
	g.kind = kind
	arg, ok := strings.CutSuffix(rest, ")")
	switch {
	case kind == "iota" && !args:
	case kind == "fill" && ok:
		g.value, err = kernel.ParseScalar(arg + ":" + t.String())
	case kind == "hash" && ok:
		g.seed, err = strconv.ParseUint(arg, 10, 64)
	default:
		err = fmt.Errorf("%q is no data: want [1 2 3], base64:, iota, fill(1) or hash(1)", s)
	}
	return g, err
}

func (g generator) String() string {
	switch g.kind {
	case "fill":
		return "fill(" + elementText(g.value) + ")"
	case "hash":
		return "hash(" + strconv.FormatUint(g.seed, 10) + ")"
	}
	return g.kind
}

// element returns element i of type t.
func (g generator) element(t dtype.Type, i int) kernel.Scalar {
	switch g.kind {
	case "iota":
		return kernel.Int64Scalar(int64(i)).Cast(t)
	case "hash":
		bits := mix(g.seed, uint64(i))
		switch {
		case t.Wide().IsFloat():
			return kernel.Float64Scalar(float64(int64(bits)>>11) / (1 << 52)).Cast(t)
		case t == dtype.Bool:
			return kernel.Scalar{DType: t, Bits: bits & 1}
		case t.IsLowPrecision():
			return kernel.Int64Scalar(int64(bits)).Cast(t)
		}
		return kernel.Scalar{DType: t, Bits: bits >> (64 - 8*t.Size())}
	}
	return g.value
}

// mix returns number i of the SplitMix64 sequence of Steele, Lea and Flood
// ("Fast splittable pseudorandom number generators", 2014), begun at a place
// that depends on seed.
func mix(seed, i uint64) uint64 {
	const golden = 0x9e3779b97f4a7c15
	z := (seed<<32 + i + 1) * golden
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
