package op

import (
	"fmt"
	"slices"
	"strings"
)

// An enum is the text form of an enumeration among the attributes: what one of
// its constants is, such as "pad mode", and their names, from constant 0 on.
type enum struct {
	kind  string
	names []string
}

// text returns the name of constant i; of one that does not exist the kind and
// the number, as in "pad mode 7".
func (e enum) text(i uint8) string {
	if int(i) >= len(e.names) {
		return fmt.Sprintf("%s %d", e.kind, i)
	}
	return e.names[i]
}

// check reports a constant that does not exist.
func (e enum) check(i uint8) error {
	if int(i) >= len(e.names) {
		return fmt.Errorf("there is no %s", e.text(i))
	}
	return nil
}

// marshal returns the name of constant i.
func (e enum) marshal(i uint8) ([]byte, error) {
	if err := e.check(i); err != nil {
		return nil, err
	}
	return []byte(e.names[i]), nil
}

// unmarshalEnum sets p to the constant whose name text is, and leaves it alone
// if there is none.
func unmarshalEnum[T ~uint8](e enum, text []byte, p *T) error {
	i := slices.Index(e.names, string(text))
	if i < 0 {
		return fmt.Errorf("%q is not a %s, want one of %s", text, e.kind, strings.Join(e.names, ", "))
	}
	*p = T(i)
	return nil
}
