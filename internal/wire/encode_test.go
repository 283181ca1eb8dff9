package wire

import (
	"testing"

	"pgregory.net/rapid"
)

// sampleModel has every field of every message that this package reads, small
// enough for tests that go through its bytes one by one.
func sampleModel() *Model {
	tensor := Tensor{Name: "w", DataType: Float, Dims: []int64{2}, Raw: []byte("12345678"), DocString: "d", Metadata: []Entry{{"k", "v"}}}
	sparse := SparseTensor{
		Values:  &Tensor{Name: "s", DataType: Int8, Dims: []int64{1}, Int32Data: varints(-1)},
		Indices: &Tensor{DataType: Int64, Dims: []int64{1}, Int64Data: varints(3)},
		Dims:    []int64{2, 2},
	}
	image := Type{Denotation: "IMAGE", Tensor: &TensorType{Float, &Shape{[]Dim{{HasValue: true, Value: 3}, {Param: "n", Denotation: "DATA_BATCH"}, {}, {HasValue: true}}}}}
	types := []Type{
		image,
		{Tensor: &TensorType{Int64, &Shape{}}},
		{Tensor: &TensorType{Elem: Int64}},
		{SparseTensor: &TensorType{Float, &Shape{[]Dim{{HasValue: true, Value: 9}}}}},
		{Sequence: &ContainerType{&image}},
		{Map: &MapType{String, &image}},
		{Optional: &ContainerType{&Type{Sequence: &ContainerType{}}}},
		{Opaque: &OpaqueType{"d", "n"}},
		{},
	}
	body := Graph{Name: "body", Outputs: []ValueInfo{{Name: "y"}}}
	node := Node{
		Name: "n", OpType: "Op", Domain: "com.example", Overload: "o", DocString: "d",
		Inputs: []string{"x", "", "w"}, Outputs: []string{"y"},
		Attributes: []Attribute{
			{Name: "f", Kind: AttrFloat, Float: 1.5, DocString: "d"},
			{Name: "i", Kind: AttrInt, Int: -1},
			{Name: "s", Kind: AttrString, Bytes: []byte{}},
			{Name: "t", Kind: AttrTensor, Tensor: &tensor},
			{Name: "g", Kind: AttrGraph, Graph: &body},
			{Name: "tp", Kind: AttrType, Type: &image},
			{Name: "sp", Kind: AttrSparseTensor, SparseTensor: &sparse},
			{Name: "fs", Kind: AttrFloats, Floats: []float32{0, 1}},
			{Name: "is", Kind: AttrInts, Ints: []int64{0, -1, 1 << 40}},
			{Name: "ss", Kind: AttrStrings, Strings: [][]byte{[]byte("a"), {}}},
			{Name: "ts", Kind: AttrTensors, Tensors: []Tensor{tensor}},
			{Name: "gs", Kind: AttrGraphs, Graphs: []Graph{body}},
			{Name: "tps", Kind: AttrTypes, Types: types},
			{Name: "sps", Kind: AttrSparseTensors, SparseTensors: []SparseTensor{sparse}},
			{Name: "r", Kind: AttrInts, RefName: "axes"},
		},
		Metadata: []Entry{{"k", "v"}},
	}
	return &Model{
		IRVersion: 10, ProducerName: "berth", ProducerVersion: "1", Domain: "d", ModelVersion: 2, DocString: "d",
		OpsetImports: []OperatorSet{{"", 21}, {"com.example", 1}},
		Metadata:     []Entry{{"k", "v"}, {}},
		TrainingInfo: [][]byte{{0x0a, 0x00}},
		Graph: &Graph{
			Name: "g", DocString: "d", Nodes: []Node{node},
			Initializers: []Tensor{
				tensor,
				{Name: "e", DataType: Double, Dims: []int64{4}, External: true, ExternalData: []Entry{{"location", "w.bin"}, {"offset", "4096"}}},
				{DataType: String, Dims: []int64{2}, StringData: [][]byte{{}, []byte("b")}},
				{DataType: Complex64, FloatData: []byte("12345678")},
				{DataType: Double, DoubleData: []byte("12345678")},
				{DataType: Uint32, Uint64Data: varints(1 << 31)},
				{DataType: Int4, Dims: []int64{3}, Int32Data: varints(0x21, 0x03)},
				{DataType: Float, Dims: []int64{8}, Segment: &Segment{2, 4}, FloatData: []byte("12345678")},
				{DataType: Float, Dims: []int64{0}, Raw: []byte{}},
			},
			SparseInitializers:      []SparseTensor{sparse},
			Inputs:                  []ValueInfo{{Name: "x", Type: &image, DocString: "d", Metadata: []Entry{{"k", "v"}}}},
			Outputs:                 []ValueInfo{{Name: "y"}},
			ValueInfo:               []ValueInfo{{Name: "z", Type: &types[4]}},
			QuantizationAnnotations: []TensorAnnotation{{"x", []Entry{{"SCALE_TENSOR", "s"}}}},
			Metadata:                []Entry{{"k", "v"}},
		},
		Functions: []Function{{
			Name: "F", Domain: "com.example", Overload: "o", DocString: "d",
			Inputs: []string{"a"}, Outputs: []string{"b"}, Attributes: []string{"axes"},
			Defaults:     []Attribute{{Name: "alpha", Kind: AttrFloat, Float: 0.5}},
			Nodes:        []Node{{OpType: "Identity", Inputs: []string{"a"}, Outputs: []string{"b"}}},
			OpsetImports: []OperatorSet{{"", 21}}, ValueInfo: []ValueInfo{{Name: "a"}}, Metadata: []Entry{{"k", "v"}},
		}},
	}
}

// sampleSequence holds values of every kind, nested.
func sampleSequence() *Sequence {
	tensor := Tensor{Name: "t", DataType: Float, Raw: []byte("abcd")}
	sparse := SparseTensor{Values: &Tensor{DataType: Float, Dims: []int64{0}}, Dims: []int64{4}}
	tensors := Sequence{Kind: ValueTensor, Tensors: []Tensor{tensor, tensor}}
	return &Sequence{Name: "s", Kind: ValueSequence, Sequences: []Sequence{
		tensors,
		{},
		{Kind: ValueSparseTensor, SparseTensors: []SparseTensor{sparse}},
		{Kind: ValueMap, Maps: []Map{
			{Name: "m", KeyType: Int64, Keys: []int64{-1, 7}, Values: &tensors},
			{KeyType: String, StringKeys: [][]byte{[]byte("a"), {}}, Values: &tensors},
		}},
		{Kind: ValueOptional, Optionals: []Optional{
			{Name: "o", Kind: ValueTensor, Tensor: &tensor},
			{Kind: ValueSparseTensor, SparseTensor: &sparse},
			{Kind: ValueSequence, Sequence: &tensors},
			{Kind: ValueMap, Map: &Map{KeyType: String}},
			{Kind: ValueOptional, Optional: &Optional{Kind: ValueTensor}},
			{},
		}},
	}}
}

func TestRoundTripSample(t *testing.T) {
	m := sampleModel()
	got, err := DecodeModel(AppendModel(nil, m), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(m, got); d != "" {
		t.Error(d)
	}
	s := sampleSequence()
	seq, err := DecodeSequence(encode([]byte("kept")[:0], s), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(s, seq); d != "" {
		t.Error(d)
	}
	for i := range s.Sequences[4].Optionals {
		o := &s.Sequences[4].Optionals[i]
		got, err := DecodeOptional(encode(nil, o), nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(o, got); d != "" {
			t.Error(d)
		}
	}
	tensor := &m.Graph.Initializers[0]
	gotTensor, err := DecodeTensor(AppendTensor(nil, tensor), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(tensor, gotTensor); d != "" {
		t.Error(d)
	}
}

// TestAppendKeepsPrefix checks that encoding leaves what is before it alone,
// although nested messages move their bytes.
func TestAppendKeepsPrefix(t *testing.T) {
	m := &Model{Graph: &Graph{Initializers: []Tensor{{DataType: Uint8, Dims: []int64{1000}, Raw: make([]byte, 1000)}}}}
	b := AppendModel([]byte("prefix"), m)
	if string(b[:6]) != "prefix" {
		t.Errorf("prefix is now %q", b[:6])
	}
	if got, err := DecodeModel(b[6:], nil); err != nil || diff(m, got) != "" {
		t.Errorf("%v %v", err, diff(m, got))
	}
}

// TestRoundTrip writes random models and reads them back.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := gen{t}
		m := &Model{
			IRVersion:    rapid.Int64Range(0, 13).Draw(t, "ir"),
			ProducerName: g.name(), DocString: g.name(), ModelVersion: rapid.Int64().Draw(t, "version"),
			OpsetImports: listOf(g, func() OperatorSet { return OperatorSet{g.name(), rapid.Int64().Draw(t, "opset")} }),
			Metadata:     g.entries(),
			Graph:        g.graph(2),
			Functions: listOf(g, func() Function {
				return Function{Name: g.name(), Inputs: listOf(g, g.name), Attributes: listOf(g, g.name),
					Defaults: listOf(g, func() Attribute { return g.attribute(1) }), Nodes: listOf(g, func() Node { return g.node(1) })}
			}),
		}
		got, err := DecodeModel(AppendModel(nil, m), nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(m, got); d != "" {
			t.Fatal(d)
		}
	})
}

// gen draws random messages. Every list is short and often empty.
type gen struct{ t *rapid.T }

func listOf[T any](g gen, draw func() T) []T {
	var list []T
	for range rapid.SampledFrom([]int{0, 0, 1, 2, 3}).Draw(g.t, "length") {
		list = append(list, draw())
	}
	return list
}

func (g gen) name() string {
	return rapid.SampledFrom([]string{"", "x", "conv1/weight:0", "é\x00\xff"}).Draw(g.t, "name")
}

func (g gen) entries() []Entry {
	return listOf(g, func() Entry { return Entry{g.name(), g.name()} })
}

func (g gen) blob(size int) []byte {
	return rapid.SliceOfN(rapid.Byte(), size, size).Draw(g.t, "blob")
}

func (g gen) dataType() DataType {
	return DataType(rapid.Int32Range(int32(Float), int32(numDataTypes)-1).Draw(g.t, "type"))
}

func (g gen) tensor() Tensor {
	d := g.dataType()
	dims := listOf(g, func() int64 { return rapid.Int64Range(0, 3).Draw(g.t, "dim") })
	n := 1
	for _, v := range dims {
		n *= int(v)
	}
	x := Tensor{Name: g.name(), DocString: g.name(), DataType: d, Dims: dims, Metadata: g.entries()}
	size := (n*d.Bits() + 7) / 8
	switch {
	case d == String:
		for range n {
			x.StringData = append(x.StringData, []byte(g.name()))
		}
	case rapid.Bool().Draw(g.t, "raw"):
		x.Raw = g.blob(size)
	case rapid.Bool().Draw(g.t, "external"):
		x.External = true
		x.ExternalData = []Entry{{"location", "weights.bin"}, {"offset", "16"}}
	case n == 0:
	default:
		var all []byte
		for _, v := range writeTyped(d, g.blob(size)) {
			all = append(all, v...)
		}
		switch typedFields[d].field {
		case 4:
			x.FloatData = all
		case 5:
			x.Int32Data = all
		case 7:
			x.Int64Data = all
		case 10:
			x.DoubleData = all
		case 11:
			x.Uint64Data = all
		}
	}
	return x
}

func (g gen) sparse() SparseTensor {
	n := rapid.Int64Range(0, 3).Draw(g.t, "nnz")
	return SparseTensor{
		Values:  &Tensor{Name: g.name(), DataType: Uint8, Dims: []int64{n}, Raw: g.blob(int(n))},
		Indices: &Tensor{DataType: Int64, Dims: []int64{n}, Raw: g.blob(8 * int(n))},
		Dims:    []int64{9},
	}
}

func (g gen) typ(depth int) Type {
	t := Type{Denotation: g.name()}
	var value *Type
	if depth > 0 && rapid.Bool().Draw(g.t, "value") {
		v := g.typ(depth - 1)
		value = &v
	}
	tensor := func() *TensorType {
		t := &TensorType{Elem: g.dataType()}
		if rapid.Bool().Draw(g.t, "shape") {
			t.Shape = &Shape{listOf(g, func() Dim {
				d := Dim{Denotation: g.name()}
				if d.HasValue = rapid.Bool().Draw(g.t, "known"); d.HasValue {
					d.Value = rapid.Int64Range(0, 1<<62).Draw(g.t, "dim")
				} else {
					d.Param = g.name()
				}
				return d
			})}
		}
		return t
	}
	switch rapid.IntRange(0, 6).Draw(g.t, "kind") {
	case 0:
		t.Tensor = tensor()
	case 1:
		t.SparseTensor = tensor()
	case 2:
		t.Sequence = &ContainerType{value}
	case 3:
		t.Optional = &ContainerType{value}
	case 4:
		t.Map = &MapType{g.dataType(), value}
	case 5:
		t.Opaque = &OpaqueType{g.name(), g.name()}
	}
	return t
}

func (g gen) value() ValueInfo {
	v := ValueInfo{Name: g.name(), DocString: g.name(), Metadata: g.entries()}
	if rapid.Bool().Draw(g.t, "typed") {
		t := g.typ(2)
		v.Type = &t
	}
	return v
}

func (g gen) attribute(depth int) Attribute {
	a := Attribute{Name: g.name(), Kind: AttrKind(rapid.Int32Range(1, int32(numAttrKinds)-1).Draw(g.t, "kind"))}
	if rapid.IntRange(0, 9).Draw(g.t, "ref") == 0 {
		a.RefName = "p"
		return a
	}
	if depth == 0 && (a.Kind == AttrGraph || a.Kind == AttrGraphs) {
		a.Kind = AttrInt
	}
	switch a.Kind {
	case AttrFloat:
		a.Float = rapid.Float32().Draw(g.t, "f")
	case AttrInt:
		a.Int = rapid.Int64().Draw(g.t, "i")
	case AttrString:
		a.Bytes = []byte(g.name())
	case AttrTensor:
		t := g.tensor()
		a.Tensor = &t
	case AttrGraph:
		a.Graph = g.graph(depth - 1)
	case AttrSparseTensor:
		s := g.sparse()
		a.SparseTensor = &s
	case AttrType:
		t := g.typ(2)
		a.Type = &t
	case AttrFloats:
		a.Floats = listOf(g, func() float32 { return rapid.Float32().Draw(g.t, "f") })
	case AttrInts:
		a.Ints = listOf(g, func() int64 { return rapid.Int64().Draw(g.t, "i") })
	case AttrStrings:
		a.Strings = listOf(g, func() []byte { return []byte(g.name()) })
	case AttrTensors:
		a.Tensors = listOf(g, g.tensor)
	case AttrGraphs:
		a.Graphs = listOf(g, func() Graph { return *g.graph(depth - 1) })
	case AttrSparseTensors:
		a.SparseTensors = listOf(g, g.sparse)
	case AttrTypes:
		a.Types = listOf(g, func() Type { return g.typ(1) })
	}
	return a
}

func (g gen) node(depth int) Node {
	return Node{
		Name: g.name(), OpType: g.name(), Domain: g.name(), Overload: g.name(),
		Inputs: listOf(g, g.name), Outputs: listOf(g, g.name),
		Attributes: listOf(g, func() Attribute { return g.attribute(depth) }),
		Metadata:   g.entries(),
	}
}

func (g gen) graph(depth int) *Graph {
	return &Graph{
		Name:                    g.name(),
		Nodes:                   listOf(g, func() Node { return g.node(depth) }),
		Initializers:            listOf(g, g.tensor),
		SparseInitializers:      listOf(g, g.sparse),
		Inputs:                  listOf(g, g.value),
		Outputs:                 listOf(g, g.value),
		QuantizationAnnotations: listOf(g, func() TensorAnnotation { return TensorAnnotation{g.name(), g.entries()} }),
	}
}
