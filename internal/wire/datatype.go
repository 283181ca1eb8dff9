package wire

import "fmt"

// A DataType is an element type, numbered as TensorProto.DataType is.
type DataType int32

// The element types of ONNX. Undefined is not valid in a tensor.
const (
	Undefined      DataType = 0
	Float          DataType = 1
	Uint8          DataType = 2
	Int8           DataType = 3
	Uint16         DataType = 4
	Int16          DataType = 5
	Int32          DataType = 6
	Int64          DataType = 7
	String         DataType = 8
	Bool           DataType = 9
	Float16        DataType = 10
	Double         DataType = 11
	Uint32         DataType = 12
	Uint64         DataType = 13
	Complex64      DataType = 14
	Complex128     DataType = 15
	BFloat16       DataType = 16
	Float8E4M3FN   DataType = 17
	Float8E4M3FNUZ DataType = 18
	Float8E5M2     DataType = 19
	Float8E5M2FNUZ DataType = 20
	Uint4          DataType = 21
	Int4           DataType = 22
	Float4E2M1     DataType = 23
	Float8E8M0     DataType = 24
	Uint2          DataType = 25
	Int2           DataType = 26
	numDataTypes   DataType = 27
)

// store is a field of TensorProto that holds elements: raw_data, or the typed
// field of some element types.
//
// A store is the number of that field.
type store int

const (
	noStore     store = 0
	floatStore  store = 4
	int32Store  store = 5
	stringStore store = 6
	int64Store  store = 7
	rawStore    store = 9
	doubleStore store = 10
	uint64Store store = 11
)

// stores are all of them.
var stores = [...]store{floatStore, int32Store, stringStore, int64Store, rawStore, doubleStore, uint64Store}

// String returns the name of the field.
func (s store) String() string { return schemaOf[Tensor]().fields[s].name }

// dataTypes has one row for each element type: its name in the schema, the
// bits of one element (0 for strings, whose size varies) and its typed field.
var dataTypes = [numDataTypes]struct {
	name  string
	bits  int
	store store
}{
	Undefined:      {"UNDEFINED", 0, noStore},
	Float:          {"FLOAT", 32, floatStore},
	Uint8:          {"UINT8", 8, int32Store},
	Int8:           {"INT8", 8, int32Store},
	Uint16:         {"UINT16", 16, int32Store},
	Int16:          {"INT16", 16, int32Store},
	Int32:          {"INT32", 32, int32Store},
	Int64:          {"INT64", 64, int64Store},
	String:         {"STRING", 0, stringStore},
	Bool:           {"BOOL", 8, int32Store},
	Float16:        {"FLOAT16", 16, int32Store},
	Double:         {"DOUBLE", 64, doubleStore},
	Uint32:         {"UINT32", 32, uint64Store},
	Uint64:         {"UINT64", 64, uint64Store},
	Complex64:      {"COMPLEX64", 64, floatStore},
	Complex128:     {"COMPLEX128", 128, doubleStore},
	BFloat16:       {"BFLOAT16", 16, int32Store},
	Float8E4M3FN:   {"FLOAT8E4M3FN", 8, int32Store},
	Float8E4M3FNUZ: {"FLOAT8E4M3FNUZ", 8, int32Store},
	Float8E5M2:     {"FLOAT8E5M2", 8, int32Store},
	Float8E5M2FNUZ: {"FLOAT8E5M2FNUZ", 8, int32Store},
	Uint4:          {"UINT4", 4, int32Store},
	Int4:           {"INT4", 4, int32Store},
	Float4E2M1:     {"FLOAT4E2M1", 4, int32Store},
	Float8E8M0:     {"FLOAT8E8M0", 8, int32Store},
	Uint2:          {"UINT2", 2, int32Store},
	Int2:           {"INT2", 2, int32Store},
}

// Valid reports whether d is an element type a tensor can have.
func (d DataType) Valid() bool { return d > Undefined && d < numDataTypes }

// Bits returns the bits of one element: a multiple of 8 except for the packed
// 4- and 2-bit types. It is 0 for strings and for types that are not valid.
func (d DataType) Bits() int {
	if !d.Valid() {
		return 0
	}
	return dataTypes[d].bits
}

// String returns the name of d in the ONNX schema, such as "FLOAT16".
func (d DataType) String() string {
	if d < 0 || d >= numDataTypes {
		return fmt.Sprintf("DataType(%d)", int32(d))
	}
	return dataTypes[d].name
}

// store returns the typed field that may hold elements of type d.
func (d DataType) store() store {
	if !d.Valid() {
		return noStore
	}
	return dataTypes[d].store
}
