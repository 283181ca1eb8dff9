package onnx

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// stringOps are the operators that look into strings. Those that only move them are the
// ones of numbers; see textOperators.
var stringOps = []row{
	{"", "RegexFullMatch", 20, 1, 1, hosted(regexFullMatch)},
	{"", "StringConcat", 20, 2, 2, hosted(stringConcat)},
	{"", "StringNormalizer", 10, 1, 1, hosted(stringNormalizer)},
	{"", "StringSplit", 20, 1, 1, hosted(stringSplit)},
}

// strings returns input i, a tensor of strings, and its elements.
func (h *hostCall) strings(i int) (*Array, []string, error) {
	a, err := h.array(i)
	if err != nil {
		return nil, nil, err
	}
	if !a.ids {
		return nil, nil, fmt.Errorf("input %d is %s, not of strings", i, TypeOf(a))
	}
	list := make([]string, a.dims.Elems())
	for k, id := range kernel.Cast[int64](a.data) {
		list[k] = h.texts.text(id)
	}
	return a, list, nil
}

// write makes output i a tensor of strings.
func (h *hostCall) write(i int, text []string, dims ...int) error {
	out, err := h.result(i, dtype.Int64, true, dims...)
	if err != nil {
		return err
	}
	ids := kernel.Cast[int64](out.data)
	for k, s := range text {
		ids[k] = h.texts.id(s)
	}
	return nil
}

// regexFullMatch tells which strings match a pattern as a whole. The syntax is that of
// RE2, which is what Go has.
func regexFullMatch(c *call) hostFunc {
	pattern := c.text("pattern", "")
	re, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
	if err != nil {
		c.failf("attribute \"pattern\": %w", err)
	}
	return func(h *hostCall) error {
		x, text, err := h.strings(0)
		if err != nil {
			return err
		}
		y, err := h.result(0, dtype.Bool, false, x.dims...)
		if err != nil {
			return err
		}
		match := kernel.Cast[bool](y.data)
		for i, s := range text {
			match[i] = re.MatchString(s)
		}
		return nil
	}
}

// stringConcat joins the elements of two tensors, which broadcast.
func stringConcat(*call) hostFunc {
	return func(h *hostCall) error {
		a, left, err := h.strings(0)
		if err != nil {
			return err
		}
		b, right, err := h.strings(1)
		if err != nil {
			return err
		}
		dims, err := shape.Broadcast(a.dims, b.dims)
		if err != nil {
			return err
		}
		if err := h.options.room(dtype.Int64, dims); err != nil {
			return err
		}
		ai, err := spread(a.dims, dims)
		if err != nil {
			return err
		}
		bi, err := spread(b.dims, dims)
		if err != nil {
			return err
		}
		size := int64(0)
		for i := range ai {
			size += int64(len(left[ai[i]]) + len(right[bi[i]]))
		}
		if err := h.roomForText(size); err != nil {
			return err
		}
		text := make([]string, dims.Elems())
		for i := range text {
			text[i] = left[ai[i]] + right[bi[i]]
		}
		return h.write(0, text, dims...)
	}
}

// spread returns which element of a tensor each element of the shape is that it
// broadcasts to.
func spread(from, to shape.Shape) ([]int, error) {
	l, err := shape.Dense(from).BroadcastTo(to)
	if err != nil {
		return nil, err
	}
	at := make([]int, to.Elems())
	index := make([]int, len(to))
	for i := range at {
		at[i] = l.At(index...)
		for a := len(to) - 1; a >= 0; a-- {
			if index[a]++; index[a] < to[a] {
				break
			}
			index[a] = 0
		}
	}
	return at, nil
}

// stringNormalizer leaves out stop words and changes the case of the others. Of a list in
// which no word is left, one that is empty remains.
func stringNormalizer(c *call) hostFunc {
	change := choice(c, "case_change_action", "NONE", map[string]func(string) string{
		"NONE": nil, "LOWER": strings.ToLower, "UPPER": strings.ToUpper,
	})
	sensitive := c.flag("is_case_sensitive", false)
	c.text("locale", "") // letters are those of Unicode, whose cases no locale of the test data changes
	stop := make(map[string]bool)
	fold := func(s string) string {
		if sensitive {
			return s
		}
		return strings.ToLower(s)
	}
	for _, s := range c.texts("stopwords") {
		stop[fold(s)] = true
	}
	return func(h *hostCall) error {
		x, text, err := h.strings(0)
		if err != nil {
			return err
		}
		if rank := len(x.dims); rank != 1 && (rank != 2 || x.dims[0] != 1) {
			return fmt.Errorf("the strings have shape %v, want [n] or [1 n]", x.dims)
		}
		text = slices.DeleteFunc(text, func(s string) bool { return stop[fold(s)] })
		if len(text) == 0 {
			text = []string{""}
		} else if change != nil {
			for i, s := range text {
				text[i] = change(s)
			}
		}
		dims := x.dims.Clone()
		dims[len(dims)-1] = len(text)
		return h.write(0, text, dims...)
	}
}

// stringSplit splits each string at a delimiter or, without one, at white space, of which
// any number is one gap and none stands at the ends. At most maxsplit splits are made, from
// the left. The outputs are the parts, with empty strings behind those of strings that have
// fewer than others, and their numbers.
func stringSplit(c *call) hostFunc {
	delimiter := c.text("delimiter", "")
	parts := -1 // any number
	if c.hasAttr("maxsplit") {
		if parts = 1 + c.int("maxsplit", 0); parts < 1 {
			c.failf("attribute \"maxsplit\" is %d", parts-1)
		}
	}
	cut := func(s string) []string {
		switch {
		case delimiter == "":
			return fields(s, parts)
		case s == "":
			return nil
		}
		return strings.SplitN(s, delimiter, parts)
	}
	return func(h *hostCall) error {
		x, text, err := h.strings(0)
		if err != nil {
			return err
		}
		split, width := make([][]string, len(text)), 0
		for i, s := range text {
			split[i] = cut(s)
			width = max(width, len(split[i]))
		}
		dims := append(x.dims.Clone(), width)
		if err := h.options.room(dtype.Int64, dims); err != nil {
			return err
		}
		all := make([]string, 0, dims.Elems())
		for _, p := range split {
			all = append(append(all, p...), make([]string, width-len(p))...)
		}
		if err := h.write(0, all, dims...); err != nil {
			return err
		}
		if len(h.out) < 2 {
			return nil
		}
		n, err := h.result(1, dtype.Int64, false, x.dims...)
		if err != nil {
			return err
		}
		for i, p := range split {
			kernel.Cast[int64](n.data)[i] = int64(len(p))
		}
		return nil
	}
}

// fields splits s at white space into so many parts at most, or as many as there are if
// that is negative. The last part is what is left, without space around it.
func fields(s string, most int) []string {
	var parts []string
	for s = strings.TrimSpace(s); s != ""; {
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 || len(parts)+1 == most {
			return append(parts, s)
		}
		parts = append(parts, s[:end])
		s = strings.TrimLeftFunc(s[end:], unicode.IsSpace)
	}
	return parts
}
