// Package memtest tells tests what memory the process takes.
package memtest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Kinds of memory, as Linux names them.
const (
	All   = "VmRSS"
	Files = "RssFile" // of mapped files
)

// Resident returns how many bytes of a kind the process has in memory. It skips the test
// where the system does not tell.
func Resident(t testing.TB, kind string) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("the system does not tell what is in memory: ", err)
	}
	_, rest, _ := strings.Cut(string(status), kind+":")
	kb := int64(0)
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Skipf("the system does not tell how much %s there is: %v", kind, err)
	}
	return kb << 10
}
