//go:build !unix

package wire

import "os"

// MapFile reports false: files are read into memory instead.
func MapFile(*os.File, int64) (data []byte, unmap func() error, ok bool) { return nil, nil, false }
