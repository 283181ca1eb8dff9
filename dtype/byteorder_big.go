//go:build armbe || arm64be || m68k || mips || mips64 || mips64p32 || ppc || ppc64 || s390 || s390x || shbe || sparc || sparc64

package dtype

// Weights of models are used where the file has them, mapped into memory, and
// files have their elements in little-endian order. A processor of the other
// order would read wrong numbers, so that the build stops here.
var _ int = "Berth needs a little-endian processor: weights are used as files store them"
