package dtype

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Code is how one element is written in a grouped [Format]: a small integer
// that stands for code times the scale of its group. The zero value, NoCode, is
// that of plain formats.
type Code uint8

// The codes. Four-bit codes are packed two to a byte.
const (
	NoCode Code = iota
	CodeInt4
	CodeUint4
	CodeInt8
	CodeUint8
	numCodes
)

var codeInfos = [numCodes]struct {
	name string
	bits int
}{
	NoCode:    {"none", 0},
	CodeInt4:  {"int4", 4},
	CodeUint4: {"uint4", 4},
	CodeInt8:  {"int8", 8},
	CodeUint8: {"uint8", 8},
}

// Codes returns every code of grouped formats, in ascending order.
func Codes() []Code { return []Code{CodeInt4, CodeUint4, CodeInt8, CodeUint8} }

// Bits returns the bits of one code: 4 or 8, and 0 for NoCode.
func (c Code) Bits() int {
	if c >= numCodes {
		return 0
	}
	return codeInfos[c].bits
}

// String returns the name of the code, such as "int4".
func (c Code) String() string {
	if c >= numCodes {
		return fmt.Sprintf("code(%d)", uint8(c))
	}
	return codeInfos[c].name
}

// A Format says how one row of a buffer stores its elements. Rows follow each
// other without padding. Formats compare with ==; the zero value is no format.
//
// A plain format is an element type: a row of d elements takes d*Size bytes.
//
// A grouped format stores low-precision codes and a scale for each group of
// Group elements, or one for the whole row when Group is 0. A row of d elements
// holds, in this order,
//
//   - the codes: ceil(d*bits/8) bytes, a 4-bit code of even index in the low half
//     of its byte;
//   - zero bytes up to a multiple of the size of a scale;
//   - the scales: d/Group of them, or one; none when d is 0.
//
// So a row is a multiple of the scale's size, and scales stay aligned in every
// row of a buffer that is itself aligned.
type Format struct {
	Type  Type // element type of a plain format, [Invalid] in a grouped one
	Code  Code // NoCode in a plain format
	Scale Type // floating-point type of the scales; Invalid in a plain format
	Group int  // elements that share a scale; 0 is the whole row
}

// Plain returns the format that stores elements of t as they are.
func Plain(t Type) Format { return Format{Type: t} }

// Grouped returns the format of codes with one scale for each group elements.
// A group of 0 is one scale for the whole row.
func Grouped(code Code, group int, scale Type) Format {
	return Format{Code: code, Scale: scale, Group: group}
}

// IsGrouped reports whether f stores codes and scales.
func (f Format) IsGrouped() bool { return f.Code != NoCode }

// Validate says what keeps f from being a format, or returns nil.
func (f Format) Validate() error {
	switch {
	case f == Format{}:
		return errors.New("dtype: no format given")
	case !f.IsGrouped() && (!f.Type.Valid() || f.Scale != Invalid || f.Group != 0):
		return fmt.Errorf("dtype: format %+v: a plain format is a valid element type and nothing else", f)
	case f.IsGrouped() && (f.Code >= numCodes || f.Type != Invalid):
		return fmt.Errorf("dtype: format %+v: a grouped format has a known code and no element type", f)
	case f.IsGrouped() && !f.Scale.IsFloat():
		return fmt.Errorf("dtype: format %s: a scale is a floating-point number, not %s", f, f.Scale)
	case f.Group < 0:
		return fmt.Errorf("dtype: format %s: the group is negative", f)
	}
	return nil
}

// A GroupError says that a row cannot be cut into whole scale groups.
type GroupError struct {
	Format Format
	Dim    int64 // elements in the row
}

func (e *GroupError) Error() string {
	return fmt.Sprintf("dtype: a row of %d elements is not a multiple of the scale group of %d in format %s",
		e.Dim, e.Format.Group, e.Format)
}

// ErrRowOverflow says that the bytes of a row do not fit 63 bits.
var ErrRowOverflow = errors.New("dtype: the bytes of a row overflow 63 bits")

// RowBytes returns the bytes of a row of dim elements. The error is a
// [*GroupError] when dim is not a multiple of the scale group, wraps
// [ErrRowOverflow] when the bytes overflow, and says what else is wrong with f
// or dim.
func (f Format) RowBytes(dim int64) (int64, error) {
	scalesAt, err := f.ScaleOffset(dim)
	if err != nil || !f.IsGrouped() {
		return scalesAt, err
	}
	scales, ok := mul(f.scales(dim), int64(f.Scale.Size()))
	if !ok || scalesAt > math.MaxInt64-scales {
		return 0, f.overflow(dim)
	}
	return scalesAt + scales, nil
}

// ScaleOffset returns the byte of a row of dim elements at which its scales
// begin, which in a plain format is the end of the row. Its errors are those of
// [Format.RowBytes].
func (f Format) ScaleOffset(dim int64) (int64, error) {
	if err := f.Validate(); err != nil {
		return 0, err
	}
	if dim < 0 {
		return 0, fmt.Errorf("dtype: a row of %d elements", dim)
	}
	if !f.IsGrouped() {
		n, ok := mul(dim, int64(f.Type.Size()))
		if !ok {
			return 0, f.overflow(dim)
		}
		return n, nil
	}
	if f.Group > 0 && dim%int64(f.Group) != 0 {
		return 0, &GroupError{f, dim}
	}
	codes := dim
	if f.Code.Bits() == 4 {
		codes = dim/2 + dim%2
	}
	size := int64(f.Scale.Size())
	if codes > math.MaxInt64-size {
		return 0, f.overflow(dim)
	}
	return (codes + size - 1) / size * size, nil
}

// scales returns how many scales a row of dim elements has.
func (f Format) scales(dim int64) int64 {
	switch {
	case f.Group > 0:
		return dim / int64(f.Group)
	case dim > 0:
		return 1
	}
	return 0
}

func (f Format) overflow(dim int64) error {
	return fmt.Errorf("%w: %d elements of %s", ErrRowOverflow, dim, f)
}

// mul multiplies two numbers that are not negative, unless the product overflows.
func mul(a, b int64) (product int64, ok bool) {
	if b != 0 && a > math.MaxInt64/b {
		return 0, false
	}
	return a * b, true
}

// String returns the text that [ParseFormat] reads: the name of the element
// type, such as "float16"; or code, group and scale, such as "int4:32:float16",
// with "row" for a scale per row: "int8:row:float32". The zero Format is "".
func (f Format) String() string {
	switch {
	case f == Format{}:
		return ""
	case !f.IsGrouped():
		return f.Type.String()
	case f.Group == 0:
		return f.Code.String() + ":row:" + f.Scale.String()
	}
	return f.Code.String() + ":" + strconv.Itoa(f.Group) + ":" + f.Scale.String()
}

// ParseFormat returns the format that [Format.String] writes as text.
func ParseFormat(text string) (Format, error) {
	bad := func(why string) (Format, error) {
		return Format{}, fmt.Errorf("dtype: format %q: %s", text, why)
	}
	name, rest, grouped := strings.Cut(text, ":")
	if !grouped {
		t, err := Parse(name)
		if err != nil {
			return bad("unknown element type")
		}
		return Plain(t), nil
	}
	group, scale, ok := strings.Cut(rest, ":")
	if !ok {
		return bad("a grouped format is code:group:scale")
	}
	f := Format{}
	for _, c := range Codes() {
		if c.String() == name {
			f.Code = c
		}
	}
	if f.Code == NoCode {
		return bad("unknown code " + strconv.Quote(name))
	}
	if group != "row" {
		n, err := strconv.ParseUint(group, 10, 31)
		if err != nil || n == 0 || strconv.FormatUint(n, 10) != group {
			return bad("the group is neither \"row\" nor a number of elements below 2^31")
		}
		f.Group = int(n)
	}
	var err error
	if f.Scale, err = Parse(scale); err != nil || !f.Scale.IsFloat() {
		return bad("the scale is not a floating-point type")
	}
	return f, nil
}

// MarshalText writes f as [Format.String] does.
func (f Format) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads what [ParseFormat] reads; an empty text is the zero Format.
func (f *Format) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*f = Format{}
		return nil
	}
	got, err := ParseFormat(string(text))
	if err == nil {
		*f = got
	}
	return err
}
