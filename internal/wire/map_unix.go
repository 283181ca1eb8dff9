//go:build unix

package wire

import (
	"os"

	"golang.org/x/sys/unix"
)

// MapFile returns the n bytes of f as memory that is read from the file as it is
// touched, and what gives the memory back. The file may be closed before. It
// must not shrink while the memory is in use: the process would be ended. It
// reports false where files cannot be mapped.
func MapFile(f *os.File, n int64) (data []byte, unmap func() error, ok bool) {
	if n <= 0 || int64(int(n)) != n {
		return nil, nil, false
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(n), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, false
	}
	return data, func() error { return unix.Munmap(data) }, true
}
