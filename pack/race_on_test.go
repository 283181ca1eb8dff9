//go:build race

package pack

// slow makes tests do less where the race detector makes all of it slow.
const slow = true
