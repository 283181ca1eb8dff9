// Package filemap maps files into memory, and knows which memory that is.
package filemap

import (
	"os"
	"slices"
	"sync"
	"unsafe"

	"github.com/berth-go/berth/internal/kernel"
)

// mapped are the files in memory.
var mapped struct {
	sync.Mutex
	files [][]byte
}

// Map returns the n bytes of f as memory that is read from the file as it is
// touched, and what gives the memory back. The file may be closed before. It
// must not shrink while the memory is in use: the process would be ended. It
// reports false where files cannot be mapped.
func Map(f *os.File, n int64) (data []byte, unmap func() error, ok bool) {
	if n <= 0 || int64(int(n)) != n {
		return nil, nil, false
	}
	data, err := mapFile(f, int(n))
	if err != nil {
		return nil, nil, false
	}
	mapped.Lock()
	defer mapped.Unlock()
	mapped.files = append(mapped.files, data)
	return data, func() error {
		mapped.Lock()
		defer mapped.Unlock()
		mapped.files = slices.DeleteFunc(mapped.files, func(file []byte) bool { return &file[0] == &data[0] })
		return unmapFile(data)
	}, true
}

// Release tells the system that the whole pages within b will hardly be read again.
// They stop counting as memory of the process, and a later read gets them from the file.
// Memory that is no part of a mapped file is left alone.
func Release(b []byte) {
	page := os.Getpagesize()
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(page-1))
	if skip+page > len(b) {
		return
	}
	mapped.Lock() // until the advice is given, so that the file stays mapped
	defer mapped.Unlock()
	if slices.ContainsFunc(mapped.files, func(file []byte) bool { return kernel.Overlap(file, b) }) {
		release(b[skip : skip+(len(b)-skip)/page*page])
	}
}
