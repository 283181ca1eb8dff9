package plan

import "math"

// kept is the end of a value that is read after the run.
const kept = math.MaxInt

// lifetimes returns for each value the last step that reads it. A value that
// no step reads ends with the step that writes it; a result of the plan is
// kept.
func lifetimes(st *staged) []int {
	ends := make([]int, len(st.values))
	for i, step := range st.steps {
		for o := range step.node.NumOutputs() {
			ends[int(step.first)+o] = i
		}
		for _, v := range step.inputs {
			if v != none {
				ends[v] = i
			}
		}
	}
	for _, r := range st.results {
		ends[r.resolved] = kept
	}
	return ends
}
