package machine

import "testing"

// TestMeasure wants figures that some machine could have.
func TestMeasure(t *testing.T) {
	for _, threads := range []int{1, 2} {
		if p := Measure(threads); !(p.Products > 1e7 && p.Products < 1e14 && p.Bytes > 1e7 && p.Bytes < 1e13) {
			t.Errorf("%d threads: %+v", threads, p)
		}
	}
}
