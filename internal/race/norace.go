//go:build !race

// Package race tells tests whether the race detector is on. It makes everything
// some twenty times slower, and runs allocate under it: tests without concurrency
// of their own then do less.
package race

// Enabled says that the race detector is on.
const Enabled = false
