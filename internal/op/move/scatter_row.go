package move

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// A scatterRow is n updates along a line. Positions count elements from the
// start of the storage.
type scatterRow struct {
	how                  Reduction
	dst, updates         []byte
	indices              indexer
	index, indexStep     int
	update, updateStep   int
	to, toStep           int // of the output at index 0
	n                    int
	axis, extent, stride int // of the output
}

// A combineRow is n elements of the output with as many updates.
type combineRow struct {
	how                Reduction
	dst, updates       []byte
	update, updateStep int
	to, toStep         int
	n                  int
}

// scatterLoops are the two loops of an element type.
type scatterLoops struct {
	at   func(scatterRow) error
	line func(combineRow)
}

// scatterLoopsOf returns the loops for an element type: by its width alone
// when elements are only replaced.
func scatterLoopsOf(t dtype.Type, how Reduction) scatterLoops {
	if how == ReductionNone {
		t = [...]dtype.Type{1: dtype.Uint8, 2: dtype.Uint16, 4: dtype.Uint32, 8: dtype.Uint64}[t.Size()]
	}
	switch t {
	case dtype.Float16:
		return halfLoops(dtype.ToF16)
	case dtype.BFloat16:
		return halfLoops(dtype.ToBF16)
	}
	return kernel.OfNumber(t, struct{}{},
		numberLoops[int8], numberLoops[int16], numberLoops[int32], numberLoops[int64],
		numberLoops[uint8], numberLoops[uint16], numberLoops[uint32], numberLoops[uint64],
		numberLoops[float32], numberLoops[float64])
}

// numberLoops returns the loops of a type that is combined as it is. Those of the
// half types stand beside them: a function for each element, which all could share,
// takes twice the time.
func numberLoops[T kernel.Number](struct{}) scatterLoops {
	return scatterLoops{combineAt[T], combineLine[T]}
}

func combineAt[T kernel.Number](r scatterRow) error {
	dst, updates := kernel.Cast[T](r.dst), kernel.Cast[T](r.updates)
	i, u, d := r.index, r.update, r.to
	for range r.n {
		x, ok := within(r.indices.at(i), r.extent)
		if !ok {
			return errIndex(r.indices.at(i), r.axis, r.extent)
		}
		p := &dst[d+x*r.stride]
		*p = combine(r.how, *p, updates[u])
		i += r.indexStep
		u += r.updateStep
		d += r.toStep
	}
	return nil
}

func combineLine[T kernel.Number](r combineRow) {
	dst, updates := kernel.Cast[T](r.dst), kernel.Cast[T](r.updates)
	u, d := r.update, r.to
	if r.how == ReductionNone && r.updateStep == 1 && r.toStep == 1 {
		copy(dst[d:d+r.n], updates[u:u+r.n])
		return
	}
	for range r.n {
		dst[d] = combine(r.how, dst[d], updates[u])
		u += r.updateStep
		d += r.toStep
	}
}

func combine[T kernel.Number](how Reduction, old, update T) T {
	switch how {
	case ReductionAdd:
		return old + update
	case ReductionMul:
		return old * update
	case ReductionMax:
		return max(old, update)
	case ReductionMin:
		return min(old, update)
	}
	return update
}

// A half is an element that is combined in float32.
type half interface {
	dtype.F16 | dtype.BF16
	Float32() float32
}

// halfLoops returns the loops of a half type, to which round brings results
// back.
func halfLoops[T half](round func(float32) T) scatterLoops {
	return scatterLoops{
		func(r scatterRow) error { return combineHalfAt(r, round) },
		func(r combineRow) { combineHalfLine(r, round) },
	}
}

func combineHalfAt[T half](r scatterRow, round func(float32) T) error {
	dst, updates := kernel.Cast[T](r.dst), kernel.Cast[T](r.updates)
	i, u, d := r.index, r.update, r.to
	for range r.n {
		x, ok := within(r.indices.at(i), r.extent)
		if !ok {
			return errIndex(r.indices.at(i), r.axis, r.extent)
		}
		p := &dst[d+x*r.stride]
		*p = round(combine(r.how, (*p).Float32(), updates[u].Float32()))
		i += r.indexStep
		u += r.updateStep
		d += r.toStep
	}
	return nil
}

func combineHalfLine[T half](r combineRow, round func(float32) T) {
	dst, updates := kernel.Cast[T](r.dst), kernel.Cast[T](r.updates)
	u, d := r.update, r.to
	for range r.n {
		dst[d] = round(combine(r.how, dst[d].Float32(), updates[u].Float32()))
		u += r.updateStep
		d += r.toStep
	}
}
