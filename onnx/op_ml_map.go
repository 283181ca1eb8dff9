package onnx

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
)

// mapOps are the operators whose inputs or outputs are maps.
var mapOps = []row{
	{mlDomain, "CastMap", 1, 1, 1, hosted(castMap)},
	{mlDomain, "DictVectorizer", 1, 1, 1, hosted(dictVectorizer)},
	{mlDomain, "ZipMap", 1, 1, 1, hosted(zipMap)},
}

// zipMap makes each row of scores a map from labels to the scores.
func zipMap(c *call) hostFunc {
	keys := &Array{typ: dtype.Int64, frozen: true}
	labels := c.textIDs("classlabels_strings")
	if keys.ids = len(labels) > 0; !keys.ids {
		labels = attrOr(c, "classlabels_int64s", wire.AttrInts, nil, func(a *wire.Attribute) []int64 { return a.Ints })
	} else if c.hasAttr("classlabels_int64s") {
		c.failf("attributes \"classlabels_int64s\" and \"classlabels_strings\" are both given")
	}
	n := len(labels)
	if n == 0 {
		c.failf("attributes \"classlabels_int64s\" and \"classlabels_strings\" are both missing")
	}
	// Maps have their keys in ascending order.
	order := upTo(n)
	slices.SortStableFunc(order, func(i, k int) int {
		if keys.ids {
			return cmp.Compare(c.imp.model.texts.text(labels[i]), c.imp.model.texts.text(labels[k]))
		}
		return cmp.Compare(labels[i], labels[k])
	})
	sorted := make([]int64, n)
	for i, k := range order {
		if sorted[i] = labels[k]; i > 0 && sorted[i] == sorted[i-1] {
			c.failf("two classes have the same label")
		}
	}
	keys.dims, keys.data = []int{n}, kernel.Bytes(sorted)
	return func(h *hostCall) error {
		x, err := h.array(0)
		if err != nil {
			return err
		}
		if rank := len(x.dims); x.typ != dtype.Float32 || rank < 1 || rank > 2 || x.dims[rank-1] != n {
			return fmt.Errorf("the scores are %s, not rows of %d numbers of type float32", TypeOf(x), n)
		}
		scores := kernel.Cast[float32](x.data)
		maps := make(Sequence, len(scores)/n)
		for row := range maps {
			values := make([]float32, n)
			for i, k := range order {
				values[i] = scores[row*n+k]
			}
			maps[row] = &Map{keys, &Array{typ: dtype.Float32, dims: []int{n}, data: kernel.Bytes(values), frozen: true}}
		}
		h.out[0] = maps
		return nil
	}
}

// mapAt returns input i, a map.
func (h *hostCall) mapAt(i int) (*Map, error) {
	m, ok := h.in[i].(*Map)
	if !ok {
		return nil, fmt.Errorf("input %d is %s, not a map", i, TypeOf(h.in[i]))
	}
	if n := m.Keys.dims.Elems(); m.Keys.typ != dtype.Int64 || n != m.Values.dims.Elems() {
		return nil, fmt.Errorf("input %d is a map of keys %s and values %s, not of as many of these as integers or strings", i, TypeOf(m.Keys), TypeOf(m.Values))
	}
	return m, nil
}

// dictVectorizer makes a map a row with the value of each key of a vocabulary, 0 where the
// map has none.
func dictVectorizer(c *call) hostFunc {
	vocabulary := c.textIDs("string_vocabulary")
	text := len(vocabulary) > 0
	if !text {
		vocabulary = attrOr(c, "int64_vocabulary", wire.AttrInts, nil, func(a *wire.Attribute) []int64 { return a.Ints })
	} else if c.hasAttr("int64_vocabulary") {
		c.failf("attributes \"int64_vocabulary\" and \"string_vocabulary\" are both given")
	}
	at := make(map[int64]int, len(vocabulary))
	for i, id := range vocabulary {
		at[id] = i
	}
	return func(h *hostCall) error {
		m, err := h.mapAt(0)
		if err != nil {
			return err
		}
		if m.Keys.ids != text {
			return fmt.Errorf("the keys are %s, unlike the vocabulary", TypeOf(m.Keys))
		}
		y, err := h.result(0, m.Values.typ, m.Values.ids, 1, len(vocabulary))
		if err != nil {
			return err
		}
		clear(y.data)
		if y.ids {
			for i := range vocabulary {
				kernel.Cast[int64](y.data)[i] = h.texts.id("")
			}
		}
		size := y.typ.Size()
		for k, id := range kernel.Cast[int64](m.Keys.data) {
			if i, ok := at[id]; ok {
				copy(y.data[i*size:(i+1)*size], m.Values.data[k*size:])
			}
		}
		return nil
	}
}

// castMap makes a map from integers a row of its values, in the order of the keys or, if
// sparse, each at its key, with 0 at others.
func castMap(c *call) hostFunc {
	to := choice(c, "cast_to", "TO_FLOAT", map[string]wire.DataType{"TO_FLOAT": wire.Float, "TO_INT64": wire.Int64, "TO_STRING": wire.String})
	sparse := choice(c, "map_form", "DENSE", map[string]bool{"DENSE": false, "SPARSE": true})
	width := c.int("max_map", 1)
	if sparse && width < 1 {
		c.failf("attribute \"max_map\" is %d", width)
	}
	return func(h *hostCall) error {
		m, err := h.mapAt(0)
		if err != nil {
			return err
		}
		if m.Keys.ids {
			return fmt.Errorf("the keys are strings, not integers")
		}
		values, err := h.cast(m.Values, to)
		if err != nil {
			return err
		}
		keys := kernel.Cast[int64](m.Keys.data)
		n := len(keys)
		if sparse {
			n = width
		}
		y, err := h.result(0, values.typ, values.ids, 1, n)
		if err != nil {
			return err
		}
		if !sparse {
			copy(y.data, values.data)
			return nil
		}
		clear(y.data)
		if y.ids {
			for i := range n {
				kernel.Cast[int64](y.data)[i] = h.texts.id("")
			}
		}
		size := y.typ.Size()
		for i, k := range keys {
			if k < 0 || k >= int64(n) {
				return fmt.Errorf("the key %d is not below attribute \"max_map\", %d", k, n)
			}
			copy(y.data[int(k)*size:int(k+1)*size], values.data[i*size:])
		}
		return nil
	}
}
