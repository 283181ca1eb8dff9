package dtype_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestByteOrder checks for every processor that Go knows that the file which
// stops the build is there exactly where the standard library takes the byte
// order to be big-endian.
func TestByteOrder(t *testing.T) {
	run := func(arch string, args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %v for %s: %v", args, arch, err)
		}
		return string(out)
	}
	big := 0
	for port := range strings.FieldsSeq(run("", "tool", "dist", "list")) {
		system, arch, _ := strings.Cut(port, "/")
		if system != "linux" {
			continue
		}
		files := func(pkg string) []string {
			return strings.Fields(run(arch, "list", "-f", `{{join .GoFiles " "}}`, pkg))
		}
		want := slices.Contains(files("encoding/binary"), "native_endian_big.go")
		if want {
			big++
		}
		if got := slices.Contains(files("."), "byteorder_big.go"); got != want {
			t.Errorf("%s: refused %v, big-endian %v", arch, got, want)
		}
	}
	if big == 0 {
		t.Error("no big-endian processor among those that Go knows")
	}
}
