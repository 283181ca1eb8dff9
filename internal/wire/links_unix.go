//go:build unix

package wire

import (
	"io/fs"
	"syscall"
)

// linkCount returns the number of hard links of an open file; ok is false
// when it cannot be told.
func linkCount(_ fs.File, info fs.FileInfo) (n uint64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return uint64(st.Nlink), true
}
