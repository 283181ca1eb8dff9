package op

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
)

// Format prints o with its attributes, the exported fields, as in
//
//	concat{axis=1}
//	pad{mode=edge, pads=[0 1 0 1]}
//
// Attributes of value zero are left out, and the braces with them when there
// is nothing between. [ops.Parse] reads the text back.
func Format(o graph.Op) string {
	var b strings.Builder
	b.WriteString(o.Name())
	v := reflect.ValueOf(o)
	if v.Kind() != reflect.Struct {
		return b.String()
	}
	sep := "{"
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || v.Field(i).IsZero() || v.Field(i).Kind() == reflect.Slice && v.Field(i).Len() == 0 {
			continue
		}
		b.WriteString(sep)
		b.WriteString(attributeName(field.Name))
		b.WriteByte('=')
		b.WriteString(formatAttribute(v.Field(i)))
		sep = ", "
	}
	if sep != "{" {
		b.WriteByte('}')
	}
	return b.String()
}

// attributeName returns the lower_snake spelling of a field's name.
func attributeName(field string) string {
	field = strings.Replace(field, "DType", "Dtype", 1)
	var b strings.Builder
	for i, r := range field {
		if i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(rune(field[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func formatAttribute(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case dtype.Type:
		return x.String()
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		if err != nil { // no valid attribute; say so where the text is read
			return strconv.Quote(fmt.Sprint(v.Interface()))
		}
		if strings.IndexFunc(string(text), notBare) >= 0 || len(text) == 0 {
			return strconv.Quote(string(text))
		}
		return string(text)
	case []int:
		return fmt.Sprint(x)
	case []float64:
		return fmt.Sprint(x)
	case string:
		return strconv.Quote(x)
	}
	return fmt.Sprint(v.Interface()) // int, float64 and bool print in full
}

// notBare reports a character that needs quotes around it.
func notBare(r rune) bool {
	return r >= unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.:+-", r)
}

// Parse returns the one of the known ops that [Format] prints as text.
// Attributes may come in any order; those left out are zero.
func Parse(text string, known []graph.Op) (graph.Op, error) {
	name, rest, braces := strings.Cut(text, "{")
	for _, o := range known {
		if o.Name() != name {
			continue
		}
		v := reflect.New(reflect.TypeOf(o)).Elem()
		if braces {
			if err := parseAttributes(v, rest); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		return v.Interface().(graph.Op), nil
	}
	return nil, fmt.Errorf("unknown op %q", name)
}

// parseAttributes sets the fields of the op v from what follows the opening
// brace.
func parseAttributes(v reflect.Value, text string) error {
	seen := make(map[string]bool)
	for first := true; ; first = false {
		text = strings.TrimLeft(text, " ")
		if rest, ok := strings.CutPrefix(text, "}"); ok {
			if rest != "" {
				return fmt.Errorf("unexpected %q behind the attributes", rest)
			}
			return nil
		}
		if !first {
			rest, ok := strings.CutPrefix(text, ",")
			if !ok {
				return fmt.Errorf("expected , or } at %q", text)
			}
			text = strings.TrimLeft(rest, " ")
		}
		name, rest, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("expected an attribute, as in axis=1, at %q", text)
		}
		field, ok := fieldNamed(v, name)
		if !ok {
			return fmt.Errorf("no attribute %q", name)
		}
		if seen[name] {
			return fmt.Errorf("attribute %q is given twice", name)
		}
		seen[name] = true
		value, rest, err := cutValue(rest)
		if err == nil {
			err = parseAttribute(field, value)
		}
		if err != nil {
			return fmt.Errorf("attribute %s: %w", name, err)
		}
		text = rest
	}
}

func fieldNamed(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && attributeName(f.Name) == name {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// cutValue splits text behind the attribute value it begins with: a quoted
// string, a list in brackets, or whatever comes before the next comma or
// brace.
func cutValue(text string) (value, rest string, err error) {
	switch {
	case strings.HasPrefix(text, `"`):
		if value, err = strconv.QuotedPrefix(text); err != nil {
			return "", "", fmt.Errorf("bad quotes at %q", text)
		}
		return value, text[len(value):], nil
	case strings.HasPrefix(text, "["):
		end := strings.IndexByte(text, ']')
		if end < 0 {
			return "", "", fmt.Errorf("no ] behind %q", text)
		}
		return text[:end+1], text[end+1:], nil
	}
	end := strings.IndexAny(text, ",}")
	if end < 0 {
		return "", "", fmt.Errorf("no } behind %q", text)
	}
	return strings.TrimRight(text[:end], " "), text[end:], nil
}

func parseAttribute(field reflect.Value, text string) (err error) {
	switch p := field.Addr().Interface().(type) {
	case *dtype.Type:
		*p, err = dtype.Parse(text)
	case encoding.TextUnmarshaler:
		if strings.HasPrefix(text, `"`) {
			if text, err = strconv.Unquote(text); err != nil {
				return err
			}
		}
		return p.UnmarshalText([]byte(text))
	case *int:
		*p, err = strconv.Atoi(text)
	case *float64:
		*p, err = strconv.ParseFloat(text, 64)
	case *bool:
		*p, err = strconv.ParseBool(text)
	case *string:
		if *p, err = strconv.Unquote(text); err != nil {
			return fmt.Errorf("%s is not a string in quotes", text)
		}
	case *[]int:
		*p, err = parseList(text, strconv.Atoi)
	case *[]float64:
		*p, err = parseList(text, func(word string) (float64, error) { return strconv.ParseFloat(word, 64) })
	default:
		return fmt.Errorf("values of type %v have no text form", field.Type())
	}
	return err
}

func parseList[T any](text string, parse func(string) (T, error)) ([]T, error) {
	if !strings.HasPrefix(text, "[") {
		return nil, fmt.Errorf("%s is not a list, as in [1 2 3]", text)
	}
	var list []T
	for word := range strings.FieldsSeq(text[1 : len(text)-1]) {
		x, err := parse(word)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}
