//go:build !unix

package filemap

import (
	"errors"
	"os"
)

// mapFile fails: files are read into memory instead.
func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) error { return nil }

func release([]byte) {}
