package elementwise

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
)

// A signature says which element types the operands of a code have, and how
// that of the result follows from them.
type signature struct {
	arity int // 1 to 3
	rule  typeRule
	kinds kindSet // of the operands; of the last ones for a choice
}

// A typeRule relates the element types of operands and result.
type typeRule uint8

const (
	sameType   typeRule = iota // operands alike, the result like them
	testType                   // operands alike, the result bool
	castType                   // one operand, the result as the instruction says
	powType                    // operands may differ, the result like the first
	chooseType                 // bool, then two alike, the result like those
)

// same is the signature of a code whose operands and result are of one type.
func same(arity int, kinds kindSet) signature { return signature{arity, sameType, kinds} }

// test is the signature of a code that yields bools.
func test(arity int, kinds kindSet) signature { return signature{arity, testType, kinds} }

// A kindSet holds one bit for each [dtype.Kind].
type kindSet uint8

const (
	bools    kindSet = 1 << dtype.KindBool
	integers kindSet = 1<<dtype.KindInt | 1<<dtype.KindUint
	floats   kindSet = 1 << dtype.KindFloat
	numbers          = integers | floats
	anything         = numbers | bools | 1<<dtype.KindLowPrecision
)

func (s kindSet) has(t dtype.Type) bool { return t.Valid() && s>>t.Kind()&1 != 0 }

func (s kindSet) String() string {
	switch s {
	case bools:
		return "bool"
	case integers:
		return "an integer type"
	case floats:
		return "a floating-point type"
	case numbers:
		return "a numeric type"
	}
	return "an element type"
}

// result returns the element type of the result for operands of the given
// types, which are as many as the arity. To is the target of a cast.
func (s signature) result(to dtype.Type, args []dtype.Type) (dtype.Type, error) {
	first := 0
	if s.rule == chooseType {
		if args[0] != dtype.Bool {
			return dtype.Invalid, fmt.Errorf("the condition is %v, not bool", args[0])
		}
		first = 1
	}
	for i, t := range args[first:] {
		if !s.kinds.has(t) {
			return dtype.Invalid, fmt.Errorf("operand %d is %v, not %v", first+i, t, s.kinds)
		}
		if t != args[first] && s.rule != powType {
			return dtype.Invalid, fmt.Errorf("operands are %v and %v", args[first], t)
		}
	}
	switch s.rule {
	case testType:
		return dtype.Bool, nil
	case castType:
		if !to.Valid() {
			return dtype.Invalid, fmt.Errorf("%v is not an element type to cast to", to)
		}
		return to, nil
	}
	return args[first], nil
}
