package race

import "testing"

// SkipSequential skips a test under the race detector. It is for tests in which no two
// goroutines share memory, whose many cases the detector slows down and has nothing to
// say about.
func SkipSequential(t testing.TB) {
	t.Helper()
	if Enabled {
		t.Skip("one goroutine, so that there are no races")
	}
}
