//go:build !race

package elementwise

// underRace says that the race detector is on.
const underRace = false
