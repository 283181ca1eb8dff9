//go:build !race

package berth_test

const raceDetector = false
