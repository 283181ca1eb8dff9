//go:build !race

package elementwise

// underRace says that the race detector is on, which makes everything some
// twenty times slower: tests without concurrency of their own then do less.
const underRace = false
