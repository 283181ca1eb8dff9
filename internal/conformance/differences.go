package conformance

import "regexp"

// A Difference is one between Berth and ONNX Runtime that is meant to be.
type Difference struct {
	Operators string // a pattern for their full names
	Case      string // a pattern for the description of a model, its inputs and what differs
	Why       string
}

// Differences are those that random models of one node show. The module compare takes any
// other for a fault.
var Differences = []Difference{}

// Explain returns why the outputs of a model of an operator are to differ, or "".
func Explain(operator, text string) string {
	for _, d := range Differences {
		if regexp.MustCompile("^(" + d.Operators + ")$").MatchString(operator) && regexp.MustCompile(d.Case).MatchString(text) {
			return d.Why
		}
	}
	return ""
}
