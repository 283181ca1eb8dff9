//go:build !unix && !windows

package wire

import "io/fs"

// linkCount returns false: this system does not tell the number of hard links.
func linkCount(fs.File, fs.FileInfo) (n uint64, ok bool) { return 0, false }
