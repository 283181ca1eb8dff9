package berth_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// unfused are the packages whose results are the same bits on every processor.
var unfused = []string{
	"./dtype", "./internal/kernel", "./internal/kernel/gemm", "./internal/kernel/isa", "./internal/kernel/lines", "./internal/op/...",
}

// fusedAt matches an instruction of arm64 that multiplies and adds with one
// rounding, and where its source is.
var fusedAt = regexp.MustCompile(`\((\S+\.go):(\d+)\)\s+FN?M(?:ADD|SUB)[SD]\s`)

// TestUnfused reads the assembly that the compiler makes for arm64. There it
// makes one instruction of x*y + z, which rounds once, unless the product is
// converted to its own type: float64(x*y) + z. Only math.FMA may be fused, as
// that is so everywhere.
func TestUnfused(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for another processor")
	}
	build := exec.Command("go", append([]string{"build", "-gcflags=-S"}, unfused...)...)
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	assembly, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, assembly)
	}
	sources := map[string][]string{}
	onPurpose, seen := 0, map[string]bool{}
	for _, m := range fusedAt.FindAllSubmatch(assembly, -1) {
		file, number := string(m[1]), string(m[2])
		if sources[file] == nil {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources[file] = strings.Split(string(text), "\n")
		}
		n, _ := strconv.Atoi(number)
		line := strings.TrimSpace(sources[file][n-1])
		switch at := file + ":" + number; {
		case strings.Contains(line, "math.FMA("):
			onPurpose++
		case !seen[at]:
			seen[at] = true
			t.Errorf("%s: a product and a sum are rounded once on arm64: %s", at, line)
		}
	}
	if onPurpose == 0 || !bytes.Contains(assembly, []byte("FMULD")) {
		t.Errorf("no math.FMA in %d bytes of assembly, where package elementwise has some", len(assembly))
	}
}
