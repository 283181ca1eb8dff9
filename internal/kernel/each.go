package kernel

// Each sets dst[i] to f(a[i]) for each i; a is at least as long as dst.
//
// Like [Each2], it is short enough to be inlined, and with it an f that is a short
// literal or a function by name, so that a call costs what the loop would where it
// stands. That is not so if f is a variable. Loops of one or two instructions on
// integers are written out all the same: inlined, they come to lie where some
// processors take twice as long for them.
func Each[D, A any](dst []D, a []A, f func(x A) D) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = f(a[i])
	}
}

// Each2 sets dst[i] to f(a[i], b[i]) for each i; a and b are at least as long as
// dst.
func Each2[D, A, B any](dst []D, a []A, b []B, f func(x A, y B) D) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = f(a[i], b[i])
	}
}

// Fill sets every element of s to v.
func Fill[T any](s []T, v T) {
	const run = 64 // elements that are worth copying
	for i := range min(run, len(s)) {
		s[i] = v
	}
	for n := run; n < len(s); n *= 2 {
		copy(s[n:], s[:n])
	}
}

// FillStrided sets n elements of dst, stride apart from dst[at] on, to v.
func FillStrided[T any](dst []T, at, stride, n int, v T) {
	if stride == 1 {
		Fill(dst[at:at+n], v)
		return
	}
	for range n {
		dst[at] = v
		at += stride
	}
}

// Truth returns 1 for true; it compiles to a flag, not a branch.
func Truth(v bool) uint8 {
	var u uint8
	if v {
		u = 1
	}
	return u
}
