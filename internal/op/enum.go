package op

import (
	"fmt"
	"slices"
	"strings"
)

// An Enum is the text form of an enumeration among the attributes: what one of
// its constants is, such as "pad mode", and their names, from constant 0 on.
type Enum struct {
	Kind  string
	Names []string
}

// Text returns the name of constant i; of one that does not exist the kind and
// the number, as in "pad mode 7".
func (e Enum) Text(i uint8) string {
	if int(i) >= len(e.Names) {
		return fmt.Sprintf("%s %d", e.Kind, i)
	}
	return e.Names[i]
}

// Check reports a constant that does not exist.
func (e Enum) Check(i uint8) error {
	if int(i) >= len(e.Names) {
		return fmt.Errorf("there is no %s", e.Text(i))
	}
	return nil
}

// Marshal returns the name of constant i.
func (e Enum) Marshal(i uint8) ([]byte, error) {
	if err := e.Check(i); err != nil {
		return nil, err
	}
	return []byte(e.Names[i]), nil
}

// UnmarshalEnum sets p to the constant whose name text is, and leaves it alone
// if there is none.
func UnmarshalEnum[T ~uint8](e Enum, text []byte, p *T) error {
	i := slices.Index(e.Names, string(text))
	if i < 0 {
		return fmt.Errorf("%q is not a %s, want one of %s", text, e.Kind, strings.Join(e.Names, ", "))
	}
	*p = T(i)
	return nil
}
