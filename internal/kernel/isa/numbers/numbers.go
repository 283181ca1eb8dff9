// Package numbers has the constants that the inner loops in Go and those in assembly share.
package numbers

// Chain is how many terms of a sum of products follow one another in a partial sum.
// The rounding error of n terms grows with Chain + n/Chain instead of n, which is
// least for a Chain of √n. A shorter one would have tiles spend more of their time
// on adding to the result.
const Chain = 64

// AheadBytes is how many bytes of a strip of a product are fetched ahead for every four terms.
const AheadBytes = 128

// TapRows is how many rows of positions the loops of depthwise convolutions take at a time.
const TapRows = 4

// The constants of the exponential of float64, which exp.go of package isa defines. ExpPoly0 to
// ExpPoly5 are the coefficients of (exp(r) - 1 - r) / r², fitted at the Chebyshev nodes of
// |r| <= ln(2)/2.
const (
	// ExpRange is the greatest magnitude that counts: far beyond what float32
	// can tell from 0 and infinity, as is the reciprocal.
	ExpRange = 300
	// ExpRound rounds a number that is added to it to an integer, and leaves
	// that in the low bits of the sum, with the bias of float64 exponents.
	ExpRound = 3<<51 + 1023
	ExpPoly0 = 0.5000000013457736
	ExpPoly1 = 0.16666666681613992
	ExpPoly2 = 0.041666465005954896
	ExpPoly3 = 0.008333310934543002
	ExpPoly4 = 0.0013933641041144783
	ExpPoly5 = 0.00019890980807240783
)

// The constants of the functions of float32, which file single.go of package isa defines. The
// polynomials are near-minimax (Chebyshev) fits over the intervals that arguments are
// reduced to, the highest power first.
const (
	// Rounding is what rounds a number that is added to it to an integer, and leaves
	// that in the low bits of the sum.
	Rounding = 3 << 22
	Ln2Upper = 0x1.62e43p-1 // ln 2, rounded to float32
	Ln2Lower = -0x1.05c61p-29
	// Beyond ExpLeast and ExpMost, exponentials are 0 and infinite.
	ExpLeast, ExpMost = -104, 89
	// TailLeast is where exponentials are 0 also beside the largest factor.
	TailLeast = -250
	// Negligible is a power of 2 that beside 1 does not show.
	Negligible = -60
	// SquareLeast is the number whose square does not show beside 1.
	SquareLeast = 0x1p-20
	// Within TanhNear and ErfNear of 0, odd polynomials have the digits.
	TanhNear, ErfNear = 0.625, 0.7
	ErfcMiddle        = 0.6
	// 2√(2/π) and 0.044715 times that, each in two parts.
	LinearUpper, LinearLower = 1.59576916694641, -4.534068e-8
	CubicUpper, CubicLower   = 0.0713548138737679, 2.3988324e-9
)

var (
	// (eʳ - 1 - r)/r² for |r| <= ln(2)/2.
	ExpTerms = []float32{0.00019891981314, 0.00139345419283, 0.00833331002423, 0.0416664568097, 0.166666666825, 0.500000001429}
	// (ln(1+f) - f + f²/2)/f³ for 1+f from √½ to √2.
	LogTerms = []float32{0.0697161147145, -0.114797338466, 0.116854199235, -0.124256873315, 0.142490576457, -0.166678023195, 0.200007157489,
		-0.24999996958, 0.3333333118}
	// (2 artanh(s) - 2s)/s³ in s², for s from 0 to 1/3.
	ArtanhTerms = []float32{0.23224329224, 0.217065758009, 0.285923579943, 0.399997063319, 0.666666673205}
	// (tanh(x) - x)/x³ in x², for x from 0 to TanhNear.
	TanhTerms = []float32{0.00229274481618, -0.00834394551584, 0.021768918651, -0.0539592595772, 0.133333035569, -0.333333331721}
	// erf(x)/x - 1 in x², for x from 0 to ErfNear.
	ErfTerms = []float32{-0.00069623262763, 0.00513974044009, -0.0268451397551, 0.112835523492, -0.376126288961, 0.12837916642}
	// exp(x²)*erfc(x)/t in t - ErfcMiddle, where t = 1/(1+0.4x), for x from 0 to 10.7.
	ErfcTerms = []float32{-0.0323964711432, 0.0376359529703, 0.0691378706382, -0.0883867482283, -0.172835068108, 0.110504107029,
		0.607513409608, 0.900303027197, 0.806079277321, 0.49381245834}
)
