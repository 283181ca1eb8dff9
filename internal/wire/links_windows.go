package wire

import (
	"io/fs"
	"os"
	"syscall"
)

// linkCount returns the number of hard links of an open file; ok is false
// when it cannot be told. File information has no such number on Windows, so
// that the open handle is asked.
func linkCount(f fs.File, _ fs.FileInfo) (n uint64, ok bool) {
	file, ok := f.(*os.File)
	if !ok {
		return 0, false
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return 0, false
	}
	var info syscall.ByHandleFileInformation
	var infoErr error
	err = conn.Control(func(fd uintptr) {
		infoErr = syscall.GetFileInformationByHandle(syscall.Handle(fd), &info)
	})
	if err != nil || infoErr != nil {
		return 0, false
	}
	return uint64(info.NumberOfLinks), true
}
