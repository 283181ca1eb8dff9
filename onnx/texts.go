package onnx

// Texts are strings by number. In graphs, tensors of strings are the numbers of their
// elements, int64: whatever only moves elements, or asks whether two are equal, needs
// no more. Equal strings have equal numbers.
//
// The strings of the model file itself have the numbers from 0 on, the same for good.
// Those that a run brings have negative ones, for this run.
type texts struct {
	base *texts // of the file; nil in these themselves
	ids  map[string]int64
	list []string
	size int64 // bytes that these take, or a little less
}

func newTexts(base *texts) *texts { return &texts{base: base, ids: make(map[string]int64)} }

// stringHeader is the size of a string without its bytes.
const stringHeader = 16

// unusedLabel is the label that encoders put where there is none, unless they are told
// otherwise.
const unusedLabel = "_Unused"

// id returns the number of a string, a new one if it has none.
func (t *texts) id(s string) int64 {
	if t.base != nil {
		if id, ok := t.base.ids[s]; ok {
			return id
		}
	}
	id, ok := t.ids[s]
	if !ok {
		if id = int64(len(t.list)); t.base != nil {
			id = -1 - id
		}
		t.ids[s] = id
		t.list = append(t.list, s)
		t.size += int64(len(s)) + stringHeader
	}
	return id
}

// text returns the string of a number.
func (t *texts) text(id int64) string {
	switch {
	case id < 0:
		return t.list[-1-id]
	case t.base != nil:
		return t.base.list[id]
	}
	return t.list[id]
}

// forget drops the strings of a run.
func (t *texts) forget() {
	if len(t.list) > 0 {
		clear(t.ids)
		clear(t.list)
		t.list = t.list[:0]
		t.size = 0
	}
}
