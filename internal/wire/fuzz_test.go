package wire

import (
	"bytes"
	"testing"
)

// FuzzModel decodes arbitrary bytes: no panic, no allocation out of
// proportion, and what decodes can be written and read again.
func FuzzModel(f *testing.F) {
	f.Add(AppendModel(nil, sampleModel()))
	f.Add(nestedSubgraphs(70))
	f.Add(nestedTypes(70))
	f.Add(inModel(groups(70)))
	f.Add(withAttribute(packedInts(8, 0, -1, 300), vint(8, 5), vint(20, int64(AttrInts))))
	f.Add(withInitializer(vint(2, int64(Int4)), packedInts(1, 3), packedInts(5, 0x21, 3)))
	f.Add(withInitializer(vint(2, int64(Float)), vint(14, 1), entry("location", "../x"), entry("offset", "-1")))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m *Model
		var err error
		got := allocated(func() { m, err = DecodeModel(data, nil) })
		if got > allocBound(len(data)) {
			t.Errorf("%d bytes allocated for an input of %d", got, len(data))
		}
		if err != nil {
			if m != nil || len(err.Error()) > 10_000 {
				t.Errorf("%v with an error of %d bytes", m, len(err.Error()))
			}
			return
		}
		for i := range m.Graph.Initializers {
			readElements(&m.Graph.Initializers[i])
		}
		for i := range m.Graph.SparseInitializers {
			m.Graph.SparseInitializers[i].Linear(nil)
		}
		// The encodings are compared, since a NaN differs from itself.
		first := AppendModel(nil, m)
		again, err := DecodeModel(first, &Limits{MaxMemory: 1 << 40})
		if err != nil {
			t.Fatalf("written and read again: %v", err)
		}
		if second := AppendModel(nil, again); !bytes.Equal(first, second) {
			t.Errorf("written twice: %x and %x", first, second)
		}
	})
}

// FuzzValue does the same for test data, which does not tell what it is.
func FuzzValue(f *testing.F) {
	f.Add(encode(nil, sampleSequence()))
	f.Add(AppendTensor(nil, &sampleModel().Graph.Initializers[0]))
	for i := range sampleSequence().Sequences[4].Optionals {
		f.Add(encode(nil, &sampleSequence().Sequences[4].Optionals[i]))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if x, err := DecodeTensor(data, nil); err == nil {
			readElements(x)
			b := AppendTensor(nil, x)
			again, err := DecodeTensor(b, &Limits{MaxMemory: 1 << 40})
			if err != nil || !bytes.Equal(AppendTensor(nil, again), b) {
				t.Errorf("tensor written and read again: %v", err)
			}
		}
		if x, err := DecodeSequence(data, nil); err == nil {
			b := encode(nil, x)
			again, err := DecodeSequence(b, &Limits{MaxMemory: 1 << 40})
			if err != nil || !bytes.Equal(encode(nil, again), b) {
				t.Errorf("sequence written and read again: %v", err)
			}
		}
		if x, err := DecodeOptional(data, nil); err == nil {
			b := encode(nil, x)
			again, err := DecodeOptional(b, &Limits{MaxMemory: 1 << 40})
			if err != nil || !bytes.Equal(encode(nil, again), b) {
				t.Errorf("optional written and read again: %v", err)
			}
		}
	})
}
