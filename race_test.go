//go:build race

package berth_test

// raceDetector says that allocations cannot be counted.
const raceDetector = true
