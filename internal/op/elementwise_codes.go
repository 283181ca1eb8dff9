package op

import "github.com/berth-go/berth/internal/kernel"

// A Code is one elementwise instruction; see [kernel.MapCode] for what each
// computes.
type Code = kernel.MapCode

// The unary codes.
const (
	Ident           = kernel.MapIdent
	Cast            = kernel.MapCast
	Neg             = kernel.MapNeg
	Abs             = kernel.MapAbs
	Sign            = kernel.MapSign
	Square          = kernel.MapSquare
	Reciprocal      = kernel.MapReciprocal
	Sqrt            = kernel.MapSqrt
	Rsqrt           = kernel.MapRsqrt
	Floor           = kernel.MapFloor
	Ceil            = kernel.MapCeil
	Round           = kernel.MapRound
	Trunc           = kernel.MapTrunc
	Exp             = kernel.MapExp
	Expm1           = kernel.MapExpm1
	Log             = kernel.MapLog
	Log1p           = kernel.MapLog1p
	Log2            = kernel.MapLog2
	Sin             = kernel.MapSin
	Cos             = kernel.MapCos
	Tan             = kernel.MapTan
	Asin            = kernel.MapAsin
	Acos            = kernel.MapAcos
	Atan            = kernel.MapAtan
	Sinh            = kernel.MapSinh
	Cosh            = kernel.MapCosh
	Tanh            = kernel.MapTanh
	Asinh           = kernel.MapAsinh
	Acosh           = kernel.MapAcosh
	Atanh           = kernel.MapAtanh
	Erf             = kernel.MapErf
	Sigmoid         = kernel.MapSigmoid
	Softplus        = kernel.MapSoftplus
	Softsign        = kernel.MapSoftsign
	Relu            = kernel.MapRelu
	LeakyRelu       = kernel.MapLeakyRelu
	Elu             = kernel.MapElu
	Selu            = kernel.MapSelu
	Celu            = kernel.MapCelu
	ThresholdedRelu = kernel.MapThresholdedRelu
	Gelu            = kernel.MapGelu
	GeluTanh        = kernel.MapGeluTanh
	HardSigmoid     = kernel.MapHardSigmoid
	HardSwish       = kernel.MapHardSwish
	Mish            = kernel.MapMish
	Swish           = kernel.MapSwish
	Shrink          = kernel.MapShrink
	IsNaN           = kernel.MapIsNaN
	IsInf           = kernel.MapIsInf
	Not             = kernel.MapNot
	BitNot          = kernel.MapBitNot
)

// The binary codes.
const (
	Add          = kernel.MapAdd
	Sub          = kernel.MapSub
	Mul          = kernel.MapMul
	Div          = kernel.MapDiv
	Pow          = kernel.MapPow
	Minimum      = kernel.MapMinimum
	Maximum      = kernel.MapMaximum
	Mod          = kernel.MapMod
	Fmod         = kernel.MapFmod
	FloorDiv     = kernel.MapFloorDiv
	Atan2        = kernel.MapAtan2
	Equal        = kernel.MapEqual
	NotEqual     = kernel.MapNotEqual
	Less         = kernel.MapLess
	LessEqual    = kernel.MapLessEqual
	Greater      = kernel.MapGreater
	GreaterEqual = kernel.MapGreaterEqual
	And          = kernel.MapAnd
	Or           = kernel.MapOr
	Xor          = kernel.MapXor
	BitAnd       = kernel.MapBitAnd
	BitOr        = kernel.MapBitOr
	BitXor       = kernel.MapBitXor
	ShiftLeft    = kernel.MapShiftLeft
	ShiftRight   = kernel.MapShiftRight
	PRelu        = kernel.MapPRelu
)

// The ternary codes.
const (
	Where = kernel.MapWhere
	Clip  = kernel.MapClip
)
