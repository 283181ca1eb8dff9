//go:build unix

package filemap

import (
	"os"

	"golang.org/x/sys/unix"
)

func mapFile(f *os.File, n int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ, unix.MAP_PRIVATE)
}

func unmapFile(data []byte) error { return unix.Munmap(data) }

// release is advice: where the system does not take it, pages stay as they are.
func release(pages []byte) { _ = unix.Madvise(pages, unix.MADV_DONTNEED) }
