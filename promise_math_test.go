package berth_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
)

// A promise of each method is compared with a reference on small data. The
// references of this file and its neighbours are tables by the name of the
// method, so that TestEveryMethodHasAReference finds what is missing.

var (
	allTypes = dtype.All()
	withZero = slices.DeleteFunc(dtype.All(), func(t berth.DType) bool { return t == berth.Float8E8M0 })
	floats   = []berth.DType{berth.Float32, berth.Float64, berth.Float16, berth.BFloat16}
	integers = []berth.DType{berth.Int8, berth.Int16, berth.Int32, berth.Int64, berth.Uint8, berth.Uint16, berth.Uint32, berth.Uint64}
	numbers  = append(append([]berth.DType{}, floats...), integers...)
	bools    = []berth.DType{berth.Bool}
)

// unaryCase is a method without operands but the promise, and the function it
// applies to each element.
type unaryCase struct {
	of        func(*berth.Promise) *berth.Promise
	want      func(float64) float64
	types     []berth.DType
	low, high float64 // of the elements
	result    berth.DType
}

const invSqrt2 = math.Sqrt2 / 2

func sigmoid(x float64) float64  { return 1 / (1 + math.Exp(-x)) }
func softplus(x float64) float64 { return math.Log1p(math.Exp(x)) }

var unaryCases = map[string]unaryCase{
	"Neg":        {(*berth.Promise).Neg, func(x float64) float64 { return -x }, numbers, -4, 4, 0},
	"Abs":        {(*berth.Promise).Abs, math.Abs, numbers, -4, 4, 0},
	"Sign":       {(*berth.Promise).Sign, func(x float64) float64 { return truth(x > 0) - truth(x < 0) }, numbers, -4, 4, 0},
	"Exp":        {(*berth.Promise).Exp, math.Exp, floats, -4, 4, 0},
	"Log":        {(*berth.Promise).Log, math.Log, floats, 0.1, 4, 0},
	"Log1p":      {(*berth.Promise).Log1p, math.Log1p, floats, -0.9, 4, 0},
	"Expm1":      {(*berth.Promise).Expm1, math.Expm1, floats, -4, 4, 0},
	"Sqrt":       {(*berth.Promise).Sqrt, math.Sqrt, floats, 0, 4, 0},
	"Square":     {(*berth.Promise).Square, func(x float64) float64 { return x * x }, numbers, -4, 4, 0},
	"Reciprocal": {(*berth.Promise).Reciprocal, func(x float64) float64 { return 1 / x }, floats, 0.5, 4, 0},
	"Sin":        {(*berth.Promise).Sin, math.Sin, floats, -4, 4, 0},
	"Cos":        {(*berth.Promise).Cos, math.Cos, floats, -4, 4, 0},
	"Tan":        {(*berth.Promise).Tan, math.Tan, floats, -1, 1, 0},
	"Asin":       {(*berth.Promise).Asin, math.Asin, floats, -1, 1, 0},
	"Acos":       {(*berth.Promise).Acos, math.Acos, floats, -1, 1, 0},
	"Atan":       {(*berth.Promise).Atan, math.Atan, floats, -4, 4, 0},
	"Sinh":       {(*berth.Promise).Sinh, math.Sinh, floats, -4, 4, 0},
	"Cosh":       {(*berth.Promise).Cosh, math.Cosh, floats, -4, 4, 0},
	"Tanh":       {(*berth.Promise).Tanh, math.Tanh, floats, -4, 4, 0},
	"Asinh":      {(*berth.Promise).Asinh, math.Asinh, floats, -4, 4, 0},
	"Acosh":      {(*berth.Promise).Acosh, math.Acosh, floats, 1.1, 4, 0},
	"Atanh":      {(*berth.Promise).Atanh, math.Atanh, floats, -0.9, 0.9, 0},
	"Floor":      {(*berth.Promise).Floor, math.Floor, floats, -4, 4, 0},
	"Ceil":       {(*berth.Promise).Ceil, math.Ceil, floats, -4, 4, 0},
	"Round":      {(*berth.Promise).Round, math.RoundToEven, floats, -4, 4, 0},
	"Trunc":      {(*berth.Promise).Trunc, math.Trunc, floats, -4, 4, 0},
	"Erf":        {(*berth.Promise).Erf, math.Erf, floats, -3, 3, 0},
	"IsNaN":      {(*berth.Promise).IsNaN, func(x float64) float64 { return truth(math.IsNaN(x)) }, floats, -4, 4, berth.Bool},
	"IsInf":      {(*berth.Promise).IsInf, func(x float64) float64 { return truth(math.IsInf(x, 0)) }, floats, -4, 4, berth.Bool},
	"Not":        {(*berth.Promise).Not, func(x float64) float64 { return 1 - x }, bools, 0, 1, 0},
	"BitNot":     {(*berth.Promise).BitNot, func(x float64) float64 { return -1 - x }, integers, 0, 100, 0},
	"Relu":       {(*berth.Promise).Relu, func(x float64) float64 { return math.Max(x, 0) }, numbers, -4, 4, 0},
	"Sigmoid":    {(*berth.Promise).Sigmoid, sigmoid, floats, -4, 4, 0},
	"Softplus":   {(*berth.Promise).Softplus, softplus, floats, -4, 4, 0},
	"Softsign":   {(*berth.Promise).Softsign, func(x float64) float64 { return x / (1 + math.Abs(x)) }, floats, -4, 4, 0},
	"Gelu":       {(*berth.Promise).Gelu, func(x float64) float64 { return x * (1 + math.Erf(x*invSqrt2)) / 2 }, floats, -4, 4, 0},
	"GeluTanh": {(*berth.Promise).GeluTanh, func(x float64) float64 {
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	}, floats, -4, 4, 0},
	"HardSwish": {(*berth.Promise).HardSwish, func(x float64) float64 { return x * math.Max(0, math.Min(1, x/6+0.5)) }, floats, -4, 4, 0},
	"Mish":      {(*berth.Promise).Mish, func(x float64) float64 { return x * math.Tanh(softplus(x)) }, floats, -4, 4, 0},
	"Swish":     {(*berth.Promise).Swish, func(x float64) float64 { return x * sigmoid(x) }, floats, -4, 4, 0},
	"Selu": {(*berth.Promise).Selu, func(x float64) float64 {
		const alpha, scale = 1.67326319217681884765625, 1.05070102214813232421875
		return scale * elu(alpha, x)
	}, floats, -4, 4, 0},
	"LeakyRelu": {func(p *berth.Promise) *berth.Promise { return p.LeakyRelu(0.25) },
		func(x float64) float64 { return math.Max(x, x/4) }, floats, -4, 4, 0},
	"Elu":         {func(p *berth.Promise) *berth.Promise { return p.Elu(1.5) }, func(x float64) float64 { return elu(1.5, x) }, floats, -4, 4, 0},
	"HardSigmoid": {func(p *berth.Promise) *berth.Promise { return p.HardSigmoid(0.25, 0.5) }, func(x float64) float64 { return math.Max(0, math.Min(1, x/4+0.5)) }, floats, -4, 4, 0},
	"Clip":        {func(p *berth.Promise) *berth.Promise { return p.Clip(1, 3) }, func(x float64) float64 { return math.Max(1, math.Min(3, x)) }, numbers, 0, 6, 0},

	"AddScalar":     {func(p *berth.Promise) *berth.Promise { return p.AddScalar(3) }, func(x float64) float64 { return x + 3 }, numbers, 0, 8, 0},
	"SubScalar":     {func(p *berth.Promise) *berth.Promise { return p.SubScalar(3) }, func(x float64) float64 { return x - 3 }, numbers, 3, 8, 0},
	"ScalarSub":     {func(p *berth.Promise) *berth.Promise { return p.ScalarSub(9) }, func(x float64) float64 { return 9 - x }, numbers, 0, 8, 0},
	"MulScalar":     {func(p *berth.Promise) *berth.Promise { return p.MulScalar(3) }, func(x float64) float64 { return x * 3 }, numbers, 0, 8, 0},
	"DivScalar":     {func(p *berth.Promise) *berth.Promise { return p.DivScalar(2) }, func(x float64) float64 { return x / 2 }, numbers, 0, 8, 0},
	"ScalarDiv":     {func(p *berth.Promise) *berth.Promise { return p.ScalarDiv(60) }, func(x float64) float64 { return 60 / x }, numbers, 1, 8, 0},
	"PowScalar":     {func(p *berth.Promise) *berth.Promise { return p.PowScalar(2) }, func(x float64) float64 { return x * x }, numbers, 0, 8, 0},
	"MinimumScalar": {func(p *berth.Promise) *berth.Promise { return p.MinimumScalar(3) }, func(x float64) float64 { return math.Min(x, 3) }, numbers, 0, 8, 0},
	"MaximumScalar": {func(p *berth.Promise) *berth.Promise { return p.MaximumScalar(3) }, func(x float64) float64 { return math.Max(x, 3) }, numbers, 0, 8, 0},
	"EqualScalar":   {func(p *berth.Promise) *berth.Promise { return p.EqualScalar(3) }, func(x float64) float64 { return truth(x == 3) }, numbers, 0, 8, berth.Bool},
	"LessScalar":    {func(p *berth.Promise) *berth.Promise { return p.LessScalar(3) }, func(x float64) float64 { return truth(x < 3) }, numbers, 0, 8, berth.Bool},
	"GreaterScalar": {func(p *berth.Promise) *berth.Promise { return p.GreaterScalar(3) }, func(x float64) float64 { return truth(x > 3) }, numbers, 0, 8, berth.Bool},
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func elu(alpha, x float64) float64 {
	if x > 0 {
		return x
	}
	return alpha * math.Expm1(x)
}

// TestUnary applies each function to every type it takes, in several shapes,
// and refuses the types that it does not take.
func TestUnary(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for name, c := range unaryCases {
		for _, typ := range c.types {
			for _, dims := range [][]int{{2, 17}, {}, {0, 3}, {1}} {
				x := uniform(rng, c.low, c.high, dims...)
				if typ.Kind() == dtype.KindUint {
					x = random(rng, max(int(c.low), 0), int(c.high), dims...)
				} else if !typ.IsFloat() {
					x = random(rng, int(c.low), int(c.high), dims...)
				}
				if (name == "IsNaN" || name == "IsInf") && len(x.data) > 2 {
					x.data[0], x.data[1] = nan, inf
				}
				x = x.as(typ)
				want := arrayOf(dims, func(i []int) float64 {
					v := c.want(x.at(i...))
					if typ.IsInteger() {
						v = math.Trunc(v)
					}
					return v
				})
				result := c.result
				if result == 0 {
					result = typ
				}
				expect(t, label(name, " ", typ, dims), c.of(x.promise(typ)), result, want)
			}
		}
	}
}

// binaryCase is a method with one other promise.
type binaryCase struct {
	of        func(p, q *berth.Promise) *berth.Promise
	want      func(x, y float64) float64
	types     []berth.DType
	low, high int // of the operands
	result    berth.DType
}

func bitwise(f func(x, y int64) int64) func(x, y float64) float64 {
	return func(x, y float64) float64 { return float64(f(int64(x), int64(y))) }
}

var binaryCases = map[string]binaryCase{
	"Add":          {(*berth.Promise).Add, func(x, y float64) float64 { return x + y }, numbers, 0, 9, 0},
	"Sub":          {(*berth.Promise).Sub, func(x, y float64) float64 { return x - y }, numbers, 0, 9, 0},
	"Mul":          {(*berth.Promise).Mul, func(x, y float64) float64 { return x * y }, numbers, 0, 9, 0},
	"Div":          {(*berth.Promise).Div, func(x, y float64) float64 { return x / y }, numbers, 1, 9, 0},
	"Pow":          {(*berth.Promise).Pow, math.Pow, numbers, 0, 3, 0},
	"Mod":          {(*berth.Promise).Mod, func(x, y float64) float64 { return x - y*math.Floor(x/y) }, numbers, 1, 9, 0},
	"Minimum":      {(*berth.Promise).Minimum, math.Min, numbers, 0, 9, 0},
	"Maximum":      {(*berth.Promise).Maximum, math.Max, numbers, 0, 9, 0},
	"Atan2":        {(*berth.Promise).Atan2, math.Atan2, floats, -3, 3, 0},
	"Equal":        {(*berth.Promise).Equal, func(x, y float64) float64 { return truth(x == y) }, allTypes, 0, 1, berth.Bool},
	"NotEqual":     {(*berth.Promise).NotEqual, func(x, y float64) float64 { return truth(x != y) }, allTypes, 0, 1, berth.Bool},
	"Less":         {(*berth.Promise).Less, func(x, y float64) float64 { return truth(x < y) }, numbers, 0, 3, berth.Bool},
	"LessEqual":    {(*berth.Promise).LessEqual, func(x, y float64) float64 { return truth(x <= y) }, numbers, 0, 3, berth.Bool},
	"Greater":      {(*berth.Promise).Greater, func(x, y float64) float64 { return truth(x > y) }, numbers, 0, 3, berth.Bool},
	"GreaterEqual": {(*berth.Promise).GreaterEqual, func(x, y float64) float64 { return truth(x >= y) }, numbers, 0, 3, berth.Bool},
	"And":          {(*berth.Promise).And, func(x, y float64) float64 { return x * y }, bools, 0, 1, 0},
	"Or":           {(*berth.Promise).Or, math.Max, bools, 0, 1, 0},
	"Xor":          {(*berth.Promise).Xor, func(x, y float64) float64 { return truth(x != y) }, bools, 0, 1, 0},
	"BitAnd":       {(*berth.Promise).BitAnd, bitwise(func(x, y int64) int64 { return x & y }), integers, 0, 100, 0},
	"BitOr":        {(*berth.Promise).BitOr, bitwise(func(x, y int64) int64 { return x | y }), integers, 0, 100, 0},
	"BitXor":       {(*berth.Promise).BitXor, bitwise(func(x, y int64) int64 { return x ^ y }), integers, 0, 100, 0},
}

// broadcasts are pairs of shapes that fit each other.
var broadcasts = [][2][]int{
	{{2, 3}, {2, 3}}, {{2, 3}, {3}}, {{3}, {2, 3}}, {{2, 1}, {1, 3}}, {{}, {2, 3}}, {{2, 3}, {}}, {{}, {}},
	{{0, 3}, {1, 3}}, {{1}, {2, 0}}, {{2, 1, 3}, {4, 1}}, {{5, 1}, {1, 37}},
}

// TestBinary applies each function to every type it takes, under
// broadcasting, with operands that are dense, transposed and reversed.
func TestBinary(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	for name, c := range binaryCases {
		for _, typ := range c.types {
			low := c.low
			if low == 0 && typ.Kind() == dtype.KindInt && name != "Pow" {
				low = -c.high // also negative operands
			}
			for n, dims := range broadcasts {
				x, y := random(rng, low, c.high, dims[0]...).as(typ), random(rng, low, c.high, dims[1]...).as(typ)
				if (name == "Div" || name == "Mod") && typ.Kind() != dtype.KindUint {
					x = random(rng, -90, 90, dims[0]...)
					for i := range y.data {
						y.data[i] *= float64(1 - 2*rng.IntN(2)) // no zeros
					}
				}
				want := arrayOf(broadcastDims(dims[0], dims[1]), func(i []int) float64 {
					v := c.want(x.atBroadcast(i), y.atBroadcast(i))
					if typ.IsInteger() {
						v = math.Trunc(v) // integers wrap around in array.tensor
					}
					return v
				})
				result := c.result
				if result == 0 {
					result = typ
				}
				p, q := x.promise(typ), y.promise(typ)
				if n%2 == 1 { // the same elements in another layout
					p, q = relaid(x, typ), relaid(y, typ)
				}
				expect(t, label(name, " ", typ, dims[0], typ, dims[1]), c.of(p, q), result, want)
			}
		}
	}
}

// relaid returns a promise of a over a tensor that stores it transposed and
// backwards.
func relaid(a array, typ berth.DType) *berth.Promise {
	perm := make([]int, len(a.dims))
	for i := range perm {
		perm[i] = len(perm) - 1 - i
	}
	stored := must(backwards(a.tensor(typ)).Permute(perm...)).Contiguous()
	return backwards(must(stored.Permute(perm...))).Promise()
}

// backwards returns a view of x with every axis reversed.
func backwards(x *berth.Tensor) *berth.Tensor {
	for axis := range x.Rank() {
		x = must(x.Slice(axis, -1, math.MinInt, -1))
	}
	return x
}

// TestTypesRefused wants an error with the type for every type that a method
// does not take.
func TestTypesRefused(t *testing.T) {
	x := list([]float64{1, 0}, 2)
	for name, c := range binaryCases {
		for _, typ := range allTypes {
			if !slices.Contains(c.types, typ) && name != "Less" && name != "LessEqual" && name != "Greater" && name != "GreaterEqual" {
				wantError(t, label(name, " of ", typ), c.of(x.promise(typ), x.promise(typ)).Err(), typ.String()+"[2]")
			}
		}
		if name == "Pow" {
			continue // the exponent may be of any type
		}
		wantError(t, name+" of two types", c.of(x.promise(berth.Float32), x.promise(berth.Int64)).Err(), "float32")
	}
	for _, name := range []string{"Exp", "Not", "BitNot", "IsNaN", "AddScalar"} {
		c := unaryCases[name]
		for _, typ := range allTypes {
			if !slices.Contains(c.types, typ) {
				wantError(t, label(name, " of ", typ), c.of(x.promise(typ)).Err(), typ.String()+"[2]")
			}
		}
	}
	// A scalar that an integer type does not have.
	for _, c := range []*berth.Promise{
		x.promise(berth.Int32).AddScalar(1.5), x.promise(berth.Uint8).MulScalar(256), x.promise(berth.Uint8).AddScalar(-1),
		x.promise(berth.Int64).MinimumScalar(math.Inf(1)), x.promise(berth.Int8).ScalarSub(nan),
	} {
		wantError(t, "scalar", c.Err(), "promise_math_test.go:")
	}
}

// otherMethods are tested by name elsewhere.
var otherMethods = map[string]bool{
	"Err": true, "DType": true, "Shape": true, "String": true, "Value": true,
	"Plan": true, "Materialize": true, "Cache": true, "Contiguous": true,
}

// TestEveryMethodHasAReference holds the tables against the methods that
// there are.
func TestEveryMethodHasAReference(t *testing.T) {
	typ := reflect.TypeFor[*berth.Promise]()
	for i := range typ.NumMethod() {
		name := typ.Method(i).Name
		_, unary := unaryCases[name]
		_, binary := binaryCases[name]
		_, reduction := reductions[name]
		_, other := methodTests[name]
		if !unary && !binary && !reduction && !other && !otherMethods[name] {
			t.Errorf("nothing tests Promise.%s", name)
		}
	}
}
