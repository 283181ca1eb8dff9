package main

import (
	"math"
	"sync"
)

const (
	batchSize  = 64
	shards     = 2 // goroutines, and partial gradients, of a batch
	learning   = 2e-3
	decayBeta1 = 0.9
	decayBeta2 = 0.999
	epsilon    = 1e-8
)

// A trainer improves net on images; epoch is called for 0 to epochs-1 in order.
type trainer struct {
	net    *weights
	images []digit
	epochs int
	seed   uint64

	first, second *weights // Adam's running means of the gradient and of its square
	step          int      // batches done
	shards        []*shard
}

// A shard is one goroutine's part of the batches.
type shard struct {
	*pass
	gradient  *weights
	distorted []float32
	loss      float64
	correct   int
}

// epoch goes over all images once, in a new order and newly distorted, and returns the mean
// loss and the number of images that were right, both measured while the network changes.
func (t *trainer) epoch(epoch int) (loss float64, correct int) {
	if t.first == nil {
		t.first, t.second = newWeights(), newWeights()
		for range shards {
			t.shards = append(t.shards, &shard{
				pass: newPass(), gradient: newWeights(), distorted: make([]float32, pixels)})
		}
	}
	for _, s := range t.shards {
		s.loss, s.correct = 0, 0
	}
	order := newRandom(t.seed, streamOrder, uint64(epoch)).Perm(len(t.images))
	for len(order) > 0 {
		batch := order[:min(batchSize, len(order))]
		order = order[len(batch):]
		t.batch(epoch, batch)
	}
	for _, s := range t.shards {
		loss += s.loss
		correct += s.correct
	}
	return loss / float64(len(t.images)), correct
}

// batch makes one step with the images of the given indices.
func (t *trainer) batch(epoch int, indices []int) {
	var done sync.WaitGroup
	for i, s := range t.shards {
		part := indices[i*len(indices)/shards : (i+1)*len(indices)/shards]
		done.Go(func() {
			clear(s.gradient.all)
			for _, index := range part {
				d := &t.images[index]
				distort(s.distorted, d.pixels, newRandom(t.seed, streamDistort, uint64(epoch), uint64(index)))
				probabilities := s.forward(t.net, s.distorted)
				s.loss -= math.Log(max(float64(probabilities[d.label]), 1e-30))
				if argmax(probabilities) == d.label {
					s.correct++
				}
				s.backward(t.net, s.gradient, d.label)
			}
		})
	}
	done.Wait()

	sum := t.shards[0].gradient.all
	for _, s := range t.shards[1:] {
		for i, g := range s.gradient.all {
			sum[i] += g
		}
	}
	t.adam(sum, 1/float32(len(indices)))
}

// adam moves the network against scale*gradient. The step length falls from the full learning
// rate to zero over the planned epochs along half a cosine.
func (t *trainer) adam(gradient []float32, scale float32) {
	batches := (len(t.images) + batchSize - 1) / batchSize * t.epochs
	rate := learning * (1 + math.Cos(math.Pi*float64(t.step)/float64(batches))) / 2
	t.step++
	// The running means start at zero; dividing by 1-βⁿ takes that bias out.
	rate *= math.Sqrt(1-math.Pow(decayBeta2, float64(t.step))) / (1 - math.Pow(decayBeta1, float64(t.step)))
	for i, g := range gradient {
		g *= scale
		t.first.all[i] = float32(decayBeta1*t.first.all[i]) + float32((1-decayBeta1)*g)
		t.second.all[i] = float32(decayBeta2*t.second.all[i]) + float32((1-decayBeta2)*float32(g*g))
		root := float32(math.Sqrt(float64(t.second.all[i])))
		t.net.all[i] -= float32(float32(rate)*t.first.all[i]) / (root + epsilon)
	}
}

// backward adds to grad the gradient of the loss -log(probability of label) at the image of the
// last call of forward.
func (p *pass) backward(w, grad *weights, label int) {
	// Softmax and the logarithm together: probability minus the wanted one.
	copy(p.gradDense2, p.probabilities)
	p.gradDense2[label]--
	denseBackward(p.gradDense1, grad.dense2, grad.offset2, p.gradDense2, p.dense1, w.dense2)
	for i, v := range p.dense1 {
		if v <= 0 {
			p.gradDense1[i] = 0
		}
	}
	denseBackward(p.gradPool2, grad.dense1, grad.offset1, p.gradDense1, p.pool2, w.dense1)
	convolveBackward(p.gradPool1, grad.conv2, grad.bias2,
		p.gradPool2, p.pool2, p.winner2, p.pool1, w.conv2, channels1, pooled1)
	convolveBackward(nil, grad.conv1, grad.bias1,
		p.gradPool1, p.pool1, p.winner1, p.image, w.conv1, 1, padded)
}

// denseBackward takes the gradient above, [m], of the result of dense over src, [n], sets
// below, [n], to the gradient of src and adds those of the weights and the bias to theirs.
func denseBackward(below, gradWeight, gradBias, above, src, weight []float32) {
	clear(below)
	for i, g := range above {
		if g == 0 {
			continue
		}
		gradBias[i] += g
		row := weight[i*len(src):][:len(src)]
		gradRow := gradWeight[i*len(src):][:len(src)]
		for j, v := range src {
			gradRow[j] += float32(g * v)
			below[j] += float32(g * row[j])
		}
	}
}

// convolveBackward goes back through poolRectified and convolve at once. Only the elements that
// won their square, and are positive, have a gradient; each of them is one kernel-sized patch of
// src against the weights of its channel. It takes the gradient above of the pooled result and
// that result itself, sets below to the gradient of src unless below is nil, and adds those of
// the weights and the bias to theirs.
func convolveBackward(below, gradWeight, gradBias []float32,
	above, result []float32, winner []int32, src, weight []float32, inputs, size int) {
	out := size - kernel + 1
	clear(below)
	for i, g := range above {
		if g == 0 || result[i] <= 0 {
			continue
		}
		at := int(winner[i])
		c, y, x := at/(out*out), at/out%out, at%out
		gradBias[c] += g
		for in := range inputs {
			for ky := range kernel {
				tap := ((c*inputs+in)*kernel + ky) * kernel
				place := in*size*size + (y+ky)*size + x
				gradTaps := gradWeight[tap:][:kernel]
				line := src[place:][:kernel]
				for k := range gradTaps {
					gradTaps[k] += float32(g * line[k])
				}
				if below == nil {
					continue
				}
				taps := weight[tap:][:kernel]
				lineBelow := below[place:][:kernel]
				for k := range taps {
					lineBelow[k] += float32(g * taps[k])
				}
			}
		}
	}
}
