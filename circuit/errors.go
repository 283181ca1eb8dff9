package circuit

import (
	"fmt"
	"strings"
)

// A Kind is a kind of fault in a circuit, a fusion plan or a layout. Each is
// itself an error, so errors.Is(err, ErrPackedTwice) asks for one of them.
type Kind string

func (k Kind) Error() string { return "circuit: " + string(k) }

// Faults of a size.
const (
	ErrNoSize    Kind = "edge has no size"     // rows, dim or format are not given or are no such thing
	ErrExpr      Kind = "malformed expression" // does not parse, is too long, or may shrink as a dimension grows
	ErrDimension Kind = "unknown dimension"    // an expression names none of the circuit's
	ErrNegative  Kind = "negative size"        // a difference below zero, a row count below one
	ErrBounds    Kind = "no value is within the bounds of the dimension"
	ErrZero      Kind = "division by zero"       // in an expression
	ErrOverflow  Kind = "size overflows 63 bits" // of an edge, a pack, or all of them
	ErrGroup     Kind = "dimension is not a multiple of the scale group"
)

// Faults of a circuit.
const (
	ErrMissing      Kind = "an argument is nil"
	ErrName         Kind = "bad name" // empty where one is needed, not UTF-8, or taken
	ErrRange        Kind = "no such edge, node or section"
	ErrWrittenTwice Kind = "edge is written by two nodes"
	ErrCycle        Kind = "nodes wait for each other"
)

// Faults of a fusion plan.
const (
	ErrNodeMissing Kind = "node is in no group"
	ErrNodeTwice   Kind = "node is in two groups"
	ErrSection     Kind = "node or edge belongs to another section"
	ErrOrder       Kind = "edge is read before it is written"
	ErrFused       Kind = "fused edge leaves its group"
	ErrStoredTwice Kind = "edge is stored twice"
)

// Faults of a layout: constraints that cannot be honoured.
const (
	ErrNotMaterialized Kind = "edge is not materialised"
	ErrPackedTwice     Kind = "edge is packed twice"
	ErrEmptyPack       Kind = "pack has no members"
	ErrExternalPacked  Kind = "external edge is packed"
	ErrTwoExternals    Kind = "two external edges are joined"
	ErrOutsideExternal Kind = "edge does not lie within the external edge it is joined to"
	ErrAliasSize       Kind = "alias of different sizes"
	ErrAliasRows       Kind = "alias of different rows where rows are apart"
	ErrAliasInPack     Kind = "alias joins two edges of one pack"
	ErrRowCounts       Kind = "row-pack members have different row counts"
	ErrOverSize        Kind = "pack does not fill the edge it is placed over"
	ErrInterleaved     Kind = "rows of a pack member would not be evenly apart"
	ErrContradiction   Kind = "constraints contradict each other"
	ErrMisaligned      Kind = "constraints cannot all be aligned"
	ErrLiveOverlap     Kind = "edges live at once would share bytes without an alias"
	ErrOverwritten     Kind = "edge is overwritten before it was last read"
)

// A PlanError says why a circuit, a fusion plan or a layout cannot be used, and
// names what is at fault. Fields that do not apply are empty.
type PlanError struct {
	Kind       Kind
	Edge       string // the edge at fault
	Other      string // the edge it is at odds with
	Node       string
	Group      string // a group of the fusion plan, as `group 3 "name"`
	Constraint string // a constraint of the layout, as "alias 0", "pack 2" or "row pack 1", counted from 0
	Detail     string // the numbers
	Err        error  // the cause, when another package found it
}

func (e *PlanError) Error() string {
	var b strings.Builder
	b.WriteString(e.Kind.Error())
	sep := ": "
	add := func(format, arg string) {
		if arg != "" {
			b.WriteString(sep)
			fmt.Fprintf(&b, format, arg)
			sep = ", "
		}
	}
	add("%s", e.Constraint)
	add("edge %q", e.Edge)
	add("edge %q", e.Other)
	add("node %q", e.Node)
	add("%s", e.Group)
	sep = ": "
	add("%s", e.Detail)
	if e.Err != nil {
		add("%s", e.Err.Error())
	}
	return b.String()
}

// Unwrap makes errors.Is find the kind and errors.As the cause.
func (e *PlanError) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}
