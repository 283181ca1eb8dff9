package find

import (
	"cmp"
	"slices"
)

// Boxes are rectangles with scores, to be thinned out.
type Boxes struct {
	Batches, Classes, Boxes int
	// Corners are four numbers for each box of each batch: two opposite corners
	// as y, x, y, x or, with Centered, the centre and the size as x, y, width,
	// height.
	Corners  []float32
	Centered bool
	// Scores are, for each batch and class, a number for each box.
	Scores []float32
}

// NonMaxSuppression returns, for each batch and class, the boxes of the highest
// scores that do not overlap one that was taken before: at most so many, without
// those whose score is not above minScore. Each is three numbers: batch, class
// and box. Two boxes overlap when the part of their union that both cover is more
// than maxOverlap. Of boxes with the same score, the first is taken first.
func (b *Boxes) NonMaxSuppression(most int, maxOverlap float32, minScore *float32) []int64 {
	found := []int64{}
	for batch := range b.Batches {
		boxes := b.rectangles(batch)
		for class := range b.Classes {
			scores := b.Scores[(batch*b.Classes+class)*b.Boxes:][:b.Boxes]
			for _, box := range thin(boxes, ranking(scores, minScore), most, maxOverlap) {
				found = append(found, int64(batch), int64(class), int64(box))
			}
		}
	}
	return found
}

// ranking returns the indices of the scores above least, the highest first.
func ranking(scores []float32, least *float32) []int {
	var order []int
	for i, s := range scores {
		if least == nil || s > *least {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	return order
}

// thin returns the first boxes of an order, at most so many, that do not overlap
// one before.
func thin(boxes []rectangle, order []int, most int, maxOverlap float32) []int {
	var taken []int
	for _, box := range order {
		if len(taken) >= most {
			break
		}
		if !slices.ContainsFunc(taken, func(other int) bool { return boxes[box].overlap(boxes[other]) > maxOverlap }) {
			taken = append(taken, box)
		}
	}
	return taken
}

type rectangle struct{ left, top, right, bottom float32 }

// rectangles returns the boxes of a batch.
func (b *Boxes) rectangles(batch int) []rectangle {
	list := make([]rectangle, b.Boxes)
	for i := range list {
		v := b.Corners[4*(batch*b.Boxes+i):][:4]
		if b.Centered {
			width, height := float32(v[2]/2), float32(v[3]/2) // never fused with the sums
			list[i] = rectangle{v[0] - width, v[1] - height, v[0] + width, v[1] + height}
		} else {
			list[i] = rectangle{min(v[1], v[3]), min(v[0], v[2]), max(v[1], v[3]), max(v[0], v[2])}
		}
	}
	return list
}

func (r rectangle) area() float32 {
	if r.right <= r.left || r.bottom <= r.top {
		return 0
	}
	return float32((r.right - r.left) * (r.bottom - r.top)) // never fused with the sum of areas
}

// overlap returns the part of the union of r and s that both cover, 0 where
// either has no area.
func (r rectangle) overlap(s rectangle) float32 {
	both := rectangle{max(r.left, s.left), max(r.top, s.top), min(r.right, s.right), min(r.bottom, s.bottom)}.area()
	if both == 0 || r.area() == 0 || s.area() == 0 {
		return 0
	}
	return both / (r.area() + s.area() - both)
}
