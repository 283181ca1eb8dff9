package wire

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// A message of onnx.proto is a Go struct. Each Go field with an onnx tag is a
// field of the message, and the tag gives its number, its name there and what the
// Go type leaves open:
//
//	Dims      []int64 `onnx:"1 dims ranked"`
//	FloatData []byte  `onnx:"4 float_data fixed32"`
//	Name      string  `onnx:"8 name label"`
//
//	label    the string that identifies the message to a person
//	op       the string that says what the message does
//	ranked   a list with an element for each axis, whose length is limited
//	varint, fixed32, fixed64
//	         a list of numbers of that wire type, kept in its packed form
//
// Go types stand for the kinds of fields that onnx.proto has: a number, string,
// byte string or pointer to a struct for one value; a slice of them for a list;
// a bool for an enumeration of two values, 0 and 1.

// maxField is above the number of every field of a message.
const maxField = 32

// A schema describes a struct that stands for a message, as its tags do.
type schema struct {
	// fields holds each field at its number; numbers without a name are
	// unknown. Messages are written in this order.
	fields [maxField]field
	// label and op are the numbers of the fields with these tags; 0 for none.
	label, op protowire.Number
	// recursive says that messages of this kind hold others of it. Their
	// nesting is bounded.
	recursive bool
	// quota bounds how many messages of this kind a file may hold.
	quota quota
}

// A field describes one field of a message.
type field struct {
	name   string
	index  int            // of the Go field
	typ    protowire.Type // of a value
	list   bool           // a value in each record
	packed bool           // numbers, in packed form in the file or in the struct as well
	ranked bool
	of     *schema // of a message
}

// schemas describe all messages, by the struct that stands for each.
var schemas = func() map[reflect.Type]*schema {
	all := make(map[reflect.Type]*schema)
	of := func(m any) *schema { return describe(all, reflect.TypeOf(m)) }
	of(Model{})
	for _, m := range []any{Graph{}, Type{}, Sequence{}, Optional{}} {
		of(m).recursive = true
	}
	of(Node{}).quota, of(Attribute{}).quota, of(Tensor{}).quota = quotaNodes, quotaAttributes, quotaTensors
	return all
}()

// schemaOf returns the schema of the messages that M stands for.
func schemaOf[M any]() *schema { return schemas[reflect.TypeFor[M]()] }

// describe returns the schema of a struct, and enters it with those of all
// messages that it holds.
func describe(all map[reflect.Type]*schema, t reflect.Type) *schema {
	if s := all[t]; s != nil {
		return s
	}
	s := &schema{}
	all[t] = s
	for i := range t.NumField() {
		words := strings.Fields(t.Field(i).Tag.Get("onnx"))
		if len(words) == 0 {
			continue
		}
		num, err := strconv.Atoi(words[0])
		if err != nil {
			panic(fmt.Sprintf("wire: %v.%s: %v", t, t.Field(i).Name, err))
		}
		f := &s.fields[num]
		f.name, f.index = words[1], i
		f.setType(all, t.Field(i).Type)
		for _, word := range words[2:] {
			switch word {
			case "label":
				s.label = protowire.Number(num)
			case "op":
				s.op = protowire.Number(num)
			case "ranked":
				f.ranked = true
			case "varint":
				f.typ, f.packed = protowire.VarintType, true
			case "fixed32":
				f.typ, f.packed = protowire.Fixed32Type, true
			case "fixed64":
				f.typ, f.packed = protowire.Fixed64Type, true
			default:
				panic(fmt.Sprintf("wire: %v.%s: %q", t, t.Field(i).Name, word))
			}
		}
	}
	return s
}

// setType sets what follows from the Go type of a field.
func (f *field) setType(all map[reflect.Type]*schema, t reflect.Type) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		f.list, t = true, t.Elem()
	}
	f.typ = protowire.BytesType
	switch t.Kind() {
	case reflect.Pointer:
		f.of = describe(all, t.Elem())
	case reflect.Struct:
		f.of = describe(all, t)
	case reflect.Float32:
		f.typ = protowire.Fixed32Type
	case reflect.Bool, reflect.Int32, reflect.Int64:
		f.typ = protowire.VarintType
	}
	if f.list && f.typ != protowire.BytesType {
		f.list, f.packed = false, true
	}
}

// in returns the value of the field in the struct m.
func (f *field) in(m reflect.Value) reflect.Value { return m.Field(f.index) }

// count returns how many values other than the default the struct m has in the
// field.
func (f *field) count(m reflect.Value) int {
	v := f.in(m)
	switch {
	case f.packed && v.Type().Elem().Kind() == reflect.Uint8:
		return countPacked(v.Bytes(), f.typ)
	case f.packed || f.list:
		return v.Len()
	case v.Kind() == reflect.Slice:
		return min(v.Len(), 1)
	case v.CanFloat() && math.Signbit(v.Float()):
		return 1 // reflect takes -0 for zero
	case v.IsZero():
		return 0
	}
	return 1
}

// countIn returns how many values other than the default m has in field num of the
// message that it stands for.
func countIn[M any](m *M, num int) int {
	return schemaOf[M]().fields[num].count(reflect.ValueOf(m).Elem())
}

// A fieldSet is a set of field numbers below maxField: bit n stands for n.
type fieldSet uint32

// has reports whether num is in s.
func (s fieldSet) has(num int) bool { return s>>num&1 != 0 }

// A checked message settles what was read and reports what is wrong with it.
// seen are the fields that were present.
type checked interface{ settle(seen fieldSet) error }

// A presence message says of some fields, by number, whether they are to be
// written. Of others ok is false: they are unless they have the default.
type presence interface {
	holds(num int) (holds, ok bool)
}
