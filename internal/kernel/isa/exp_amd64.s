//go:build !purego

#include "textflag.h"

// Operands are in Go's order: the destination last, and of VSUBPD, VMINPD and
// VMAXPD the first operand of the operation last but one. VMINPD and VMAXPD
// return the second operand, here x, where either is NaN.

#define CONSTANTS512 \
	VBROADCASTSD 0(AX), Z16 \
	VBROADCASTSD 8(AX), Z17 \
	VBROADCASTSD 16(AX), Z18 \
	VBROADCASTSD 24(AX), Z19 \
	VBROADCASTSD 32(AX), Z20 \
	VBROADCASTSD 40(AX), Z21 \
	VBROADCASTSD 48(AX), Z22 \
	VBROADCASTSD 56(AX), Z23 \
	VBROADCASTSD 64(AX), Z24 \
	VBROADCASTSD 72(AX), Z25 \
	VBROADCASTSD 80(AX), Z26 \
	VBROADCASTSD 88(AX), Z27

// EXP512 makes the exponentials of the eight x in Z0 in Z3, where x beyond the
// range count as its ends. Rounded to float32 they are 0 and infinity.
#define EXP512 \
	VMINPD       Z0, Z17, Z0   \ // at most expRange
	VMAXPD       Z0, Z16, Z0   \ // at least -expRange
	VMULPD       Z18, Z0, Z1   \
	VADDPD       Z19, Z1, Z1   \ // t
	VSUBPD       Z19, Z1, Z2   \
	VMULPD       Z20, Z2, Z2   \
	VSUBPD       Z2, Z0, Z0    \ // r
	VMULPD       Z0, Z22, Z3   \
	VADDPD       Z23, Z3, Z3   \
	VMULPD       Z0, Z3, Z3    \
	VADDPD       Z24, Z3, Z3   \
	VMULPD       Z0, Z3, Z3    \
	VADDPD       Z25, Z3, Z3   \
	VMULPD       Z0, Z3, Z3    \
	VADDPD       Z26, Z3, Z3   \
	VMULPD       Z0, Z3, Z3    \
	VADDPD       Z27, Z3, Z3   \ // q
	VMULPD       Z0, Z0, Z2    \
	VMULPD       Z2, Z3, Z3    \
	VADDPD       Z0, Z21, Z0   \
	VADDPD       Z3, Z0, Z3    \ // p
	VPSLLQ       $52, Z1, Z1   \
	VMULPD       Z1, Z3, Z3

// The low limit, for which no register is left, is loaded anew each time.
#define CONSTANTS256 \
	VBROADCASTSD 8(AX), Y5 \
	VBROADCASTSD 16(AX), Y6 \
	VBROADCASTSD 24(AX), Y7 \
	VBROADCASTSD 32(AX), Y8 \
	VBROADCASTSD 40(AX), Y9 \
	VBROADCASTSD 48(AX), Y10 \
	VBROADCASTSD 56(AX), Y11 \
	VBROADCASTSD 64(AX), Y12 \
	VBROADCASTSD 72(AX), Y13 \
	VBROADCASTSD 80(AX), Y14 \
	VBROADCASTSD 88(AX), Y15

// EXP256 is EXP512 for the four x in Y0, with the results in Y3.
#define EXP256 \
	VBROADCASTSD 0(AX), Y1     \
	VMINPD       Y0, Y5, Y0    \ // at most expRange
	VMAXPD       Y0, Y1, Y0    \ // at least -expRange
	VMULPD       Y6, Y0, Y1    \
	VADDPD       Y7, Y1, Y1    \ // t
	VSUBPD       Y7, Y1, Y2    \
	VMULPD       Y8, Y2, Y2    \
	VSUBPD       Y2, Y0, Y0    \ // r
	VMULPD       Y0, Y10, Y3   \
	VADDPD       Y11, Y3, Y3   \
	VMULPD       Y0, Y3, Y3    \
	VADDPD       Y12, Y3, Y3   \
	VMULPD       Y0, Y3, Y3    \
	VADDPD       Y13, Y3, Y3   \
	VMULPD       Y0, Y3, Y3    \
	VADDPD       Y14, Y3, Y3   \
	VMULPD       Y0, Y3, Y3    \
	VADDPD       Y15, Y3, Y3   \ // q
	VMULPD       Y0, Y0, Y2    \
	VMULPD       Y2, Y3, Y3    \
	VADDPD       Y0, Y9, Y0    \
	VADDPD       Y3, Y0, Y3    \ // p
	VPSLLQ       $52, Y1, Y1   \
	VMULPD       Y1, Y3, Y3

// func expChunkAVX512(x *float64, n int, constants *float64)
TEXT ·expChunkAVX512(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), DI
	MOVQ         n+8(FP), CX
	MOVQ         constants+16(FP), AX
	CONSTANTS512
	VBROADCASTSD 96(AX), Z28

loop:
	VMOVUPD (DI), Z0
	VMOVAPD Z0, Z4
	EXP512
	VCMPPD  $30, Z17, Z4, K1  // x > expRange
	VMOVAPD Z28, K1, Z3
	VCMPPD  $17, Z16, Z4, K1  // x < -expRange
	VPXORQ  Z3, Z3, K1, Z3
	VMOVUPD Z3, (DI)
	ADDQ    $64, DI
	SUBQ    $8, CX
	JNE     loop
	VZEROUPPER
	RET

// func expChunkAVX2(x *float64, n int, constants *float64)
TEXT ·expChunkAVX2(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), DI
	MOVQ         n+8(FP), CX
	MOVQ         constants+16(FP), AX
	CONSTANTS256
	VBROADCASTSD 96(AX), Y4

loop:
	VMOVUPD      (DI), Y0
	EXP256
	VCMPPD       $17, (DI), Y5, Y1 // expRange < x
	VBLENDVPD    Y1, Y4, Y3, Y3
	VBROADCASTSD 0(AX), Y1
	VCMPPD       $30, (DI), Y1, Y1 // -expRange > x
	VANDNPD      Y3, Y1, Y3
	VMOVUPD      Y3, (DI)
	ADDQ         $32, DI
	SUBQ         $4, CX
	JNE          loop
	VZEROUPPER
	RET
