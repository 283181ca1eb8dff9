package filemap_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/berth-go/berth/internal/filemap"
	"github.com/berth-go/berth/internal/memtest"
)

// mapped returns a file of n bytes in memory, and the bytes that it has.
func mapped(t *testing.T, n int) (data, want []byte) {
	t.Helper()
	want = make([]byte, n)
	for i := range want {
		want[i] = byte(i/4096 + i%251)
	}
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, want, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, unmap, ok := filemap.Map(f, int64(n))
	if !ok {
		t.Skip("files cannot be mapped here")
	}
	t.Cleanup(func() {
		if err := unmap(); err != nil {
			t.Error(err)
		}
	})
	return data, want
}

// TestRelease wants released pages to count no more, and to be read again as they were.
func TestRelease(t *testing.T) {
	const size = 16 << 20
	data, want := mapped(t, size+100)
	if !bytes.Equal(data, want) {
		t.Fatal("the file reads otherwise in memory")
	}
	before := memtest.Resident(t, memtest.Files)
	filemap.Release(data[33 : size-33])
	if gone := before - memtest.Resident(t, memtest.Files); gone < size-256<<10 {
		t.Errorf("%d bytes are gone, want about %d", gone, size)
	}
	if !bytes.Equal(data, want) {
		t.Error("the file reads otherwise once it is released")
	}
}

// TestReleaseParts releases parts that hold no whole page, or nothing.
func TestReleaseParts(t *testing.T) {
	data, want := mapped(t, 5*os.Getpagesize()+5)
	page := os.Getpagesize()
	for _, part := range [][]byte{nil, data[:0], data[1:page], data[page-1 : 2*page], data[page-1 : 2*page+1], data[5*page:], data} {
		filemap.Release(part)
	}
	if !bytes.Equal(data, want) {
		t.Error("the file reads otherwise once it is released")
	}
}

// TestReleaseOthers wants memory that is no file's to stay as it is.
func TestReleaseOthers(t *testing.T) {
	mapped(t, 100)
	heap := bytes.Repeat([]byte{7}, 1<<20)
	filemap.Release(heap)
	if bytes.Count(heap, []byte{7}) != len(heap) {
		t.Error("memory that is no file's has lost its bytes")
	}
}
