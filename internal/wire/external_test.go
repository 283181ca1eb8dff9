package wire

import (
	"bytes"
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
)

// externalTensor is a uint8 tensor of n elements in the file at location.
func externalTensor(location string, n int64, more ...Entry) *Tensor {
	return &Tensor{
		Name: "w", DataType: Uint8, Dims: []int64{n}, External: true,
		ExternalData: append([]Entry{{"location", location}}, more...),
	}
}

// weightsDir returns a directory with a file weights.bin of the bytes 0 to 99,
// one in a subdirectory, and a secret next to the directory.
func weightsDir(t *testing.T) (dir, secret string) {
	t.Helper()
	base := t.TempDir()
	dir = filepath.Join(base, "model")
	secret = filepath.Join(base, "secret")
	data := make([]byte, 100)
	for i := range data {
		data[i] = byte(i)
	}
	for name, content := range map[string][]byte{
		filepath.Join(dir, "weights.bin"):     data,
		filepath.Join(dir, "sub", "part.bin"): data[:10],
		secret:                                []byte("secret"),
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, secret
}

// sources returns the ways to read dir.
func sources(t *testing.T, dir string) map[string]Source {
	t.Helper()
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return map[string]Source{"Dir": d, "FS": FS(os.DirFS(dir))}
}

func TestExternalData(t *testing.T) {
	dir, _ := weightsDir(t)
	content, err := os.ReadFile(filepath.Join(dir, "weights.bin"))
	if err != nil {
		t.Fatal(err)
	}
	digest := sha1.Sum(content)
	sum := hex.EncodeToString(digest[:])
	for name, src := range sources(t, dir) {
		t.Run(name, func(t *testing.T) {
			l := NewLoader(src, nil)
			defer l.Close()
			for _, c := range []struct {
				tensor *Tensor
				lo, hi int
			}{
				{externalTensor("weights.bin", 10), 0, 10},
				{externalTensor("weights.bin", 100), 0, 100},
				{externalTensor("./weights.bin", 10, Entry{"offset", "90"}), 90, 100},
				{externalTensor("weights.bin", 10, Entry{"offset", "5"}, Entry{"length", "10"}, Entry{"other", "x"}), 5, 15},
				{externalTensor("sub/part.bin", 4, Entry{"offset", "6"}), 6, 10},
				{externalTensor("weights.bin", 0, Entry{"offset", "100"}), 0, 0},
				{externalTensor("weights.bin", 3, Entry{"checksum", strings.ToUpper(sum)}), 0, 3},
			} {
				got, err := l.Bytes(c.tensor)
				if err != nil {
					t.Errorf("%v: %v", c.tensor.ExternalData, err)
				} else if !bytes.Equal(got, content[c.lo:c.hi]) {
					t.Errorf("%v: got %v", c.tensor.ExternalData, got)
				}
			}
		})
	}
	inline := &Tensor{DataType: Uint8, Raw: []byte{7}}
	if got, err := (*Loader)(nil).Bytes(inline); err != nil || got[0] != 7 {
		t.Errorf("inline data of a nil Loader: %v, %v", got, err)
	}
}

func TestExternalDataRefused(t *testing.T) {
	dir, secret := weightsDir(t)
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{
		"inside.bin":  "weights.bin",
		"outside.bin": "../secret",
		"absolute":    secret,
		"linked":      "sub",
		"parent":      "..",
		"dangling":    "nothing",
	}
	symlinks := true
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			symlinks = false
		}
	}
	hard := os.Link(secret, filepath.Join(dir, "hard.bin")) == nil
	cases := []struct {
		location string
		offset   string
		want     string
		need     bool // what the file system has to provide
	}{
		{"../secret", "0", "..", true},
		{"sub/../../secret", "0", "..", true},
		{"sub/../weights.bin", "0", "..", true},
		{"..", "0", "..", true},
		{secret, "0", "", true},
		{"/etc/passwd", "0", "absolute", true},
		{"//weights.bin", "0", "absolute", true},
		{`..\secret`, "0", "backslash", true},
		{`C:\secret`, "0", "backslash", true},
		{"C:weights.bin", "0", "colon", true},
		{"weights.bin:stream", "0", "colon", true},
		{"weights.bin\x00", "0", "NUL", true},
		{".", "0", "directory", true},
		{"folder", "0", "directory", true},
		{"missing.bin", "0", "missing.bin", true},
		{"weights.bin/x", "0", "weights.bin", true},
		{"weights.bin", "101", "bytes 101 to 105", true},
		{"weights.bin", "97", "bytes 97 to 101 are not within", true},
		{"weights.bin", "9223372036854775000", "not within", true},
		{"inside.bin", "0", "symbolic link", symlinks},
		{"outside.bin", "0", "symbolic link", symlinks},
		{"absolute", "0", "symbolic link", symlinks},
		{"linked/part.bin", "0", "symbolic link", symlinks},
		{"parent/secret", "0", "symbolic link", symlinks},
		{"dangling", "0", "symbolic link", symlinks},
		{"hard.bin", "0", "2 hard links", hard},
	}
	for name, src := range sources(t, dir) {
		for _, c := range cases {
			t.Run(name+"/"+strings.ReplaceAll(c.location, "/", "∕"), func(t *testing.T) {
				if !c.need {
					t.Skip("the file system has no such links")
				}
				l := NewLoader(src, nil)
				defer l.Close()
				got, err := l.Bytes(externalTensor(c.location, 4, Entry{"offset", c.offset}))
				wantError(t, err, c.want, `"w"`)
				if got != nil {
					t.Errorf("got %q", got)
				}
			})
		}
	}
	_, err := NewLoader(nil, nil).Bytes(externalTensor("weights.bin", 1))
	wantError(t, err, `"w"`, "no directory")
	_, err = OpenDir(filepath.Join(dir, "missing"))
	wantError(t, err, "missing")
}

// TestSpecialFile checks that a named pipe, which would block whoever opens
// it, is not opened.
func TestSpecialFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no named pipes in the file system")
	}
	fsys := fstest.MapFS{"pipe": {Mode: fs.ModeNamedPipe}}
	_, err := FS(fsys).Open("pipe")
	wantError(t, err, "special file")
}

func TestExternalChecksum(t *testing.T) {
	dir, _ := weightsDir(t)
	for name, src := range sources(t, dir) {
		t.Run(name, func(t *testing.T) {
			l := NewLoader(src, nil)
			defer l.Close()
			_, err := l.Bytes(externalTensor("weights.bin", 4, Entry{"checksum", strings.Repeat("0", 40)}))
			wantError(t, err, "SHA-1", `"weights.bin"`)
		})
	}
}

// TestExternalShared checks that one range is read once, and that a small file
// cannot be made into a large model.
func TestExternalShared(t *testing.T) {
	dir, _ := weightsDir(t)
	for name, src := range sources(t, dir) {
		t.Run(name, func(t *testing.T) {
			l := NewLoader(src, nil)
			defer l.Close()
			a, err := l.Bytes(externalTensor("weights.bin", 100))
			if err != nil {
				t.Fatal(err)
			}
			for range 100 {
				b, err := l.Bytes(externalTensor("weights.bin", 100))
				if err != nil {
					t.Fatal(err)
				}
				if &a[0] != &b[0] {
					t.Fatal("one range was read twice")
				}
			}
			for i := 1; err == nil && i < 100; i++ {
				_, err = l.Bytes(externalTensor("weights.bin", int64(100-i)))
			}
			wantError(t, err, "more than 4 times its 100 bytes")
			if !errors.Is(err, ErrLimit) {
				t.Errorf("%q does not match ErrLimit", err)
			}
			l = NewLoader(src, &Limits{MaxExternalBytes: 50})
			if _, err := l.Bytes(externalTensor("weights.bin", 50)); err != nil {
				t.Error(err)
			}
			_, err = l.Bytes(externalTensor("weights.bin", 1))
			wantError(t, err, "more than 50 bytes in all")
		})
	}
}

// TestExternalChanged replaces a file after it was opened.
func TestExternalChanged(t *testing.T) {
	dir, _ := weightsDir(t)
	for name, src := range sources(t, dir) {
		t.Run(name, func(t *testing.T) {
			blob, err := src.Open("weights.bin")
			if err != nil {
				t.Fatal(err)
			}
			other := filepath.Join(dir, "other")
			if err := os.WriteFile(other, make([]byte, 100), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(other, filepath.Join(dir, "weights.bin")); err != nil {
				t.Fatal(err)
			}
			_, err = blob.Range(0, 4)
			wantError(t, err, "has changed")
		})
	}
}

// swappingFS replaces a file between the look at it and its opening.
type swappingFS struct {
	fs.FS
	swap func()
}

func (s swappingFS) Open(name string) (fs.File, error) {
	s.swap()
	return s.FS.Open(name)
}

func (s swappingFS) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(s.FS, name) }
func (s swappingFS) ReadLink(name string) (string, error)   { return fs.ReadLink(s.FS, name) }

func TestExternalSwapped(t *testing.T) {
	dir, secret := weightsDir(t)
	name := filepath.Join(dir, "weights.bin")
	for what, put := range map[string]func() error{
		"symbolic link": func() error { return os.Symlink(secret, name) },
		"another file":  func() error { return os.WriteFile(name, []byte("other"), 0o644) },
	} {
		if err := os.WriteFile(name, []byte("first"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := FS(swappingFS{os.DirFS(dir), func() {
			// A file at another name keeps the old one's number from reuse.
			if err := os.Rename(name, name+".old"); err != nil {
				t.Fatal(err)
			}
			if err := put(); err != nil {
				t.Skip(err)
			}
		}}).Open("weights.bin")
		t.Log(what, err)
		wantError(t, err, "was replaced")
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

//go:embed doc.go
var embedded embed.FS

// sequentialFS hides all of a file but its reader.
type sequentialFS struct{ fs.FS }

func (s sequentialFS) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	return struct{ fs.File }{f}, err
}

// TestFSKinds reads from file systems that are not of the operating system.
func TestFSKinds(t *testing.T) {
	memory := fstest.MapFS{"a/b.bin": {Data: []byte("0123456789")}}
	for _, c := range []struct {
		name, location, want string
		fsys                 fs.FS
	}{
		{"memory", "a/b.bin", "456", memory},
		{"sequential", "a/b.bin", "456", sequentialFS{memory}},
		{"embedded", "doc.go", "age", embedded},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := NewLoader(FS(c.fsys), nil)
			defer l.Close()
			for range 2 {
				got, err := l.Bytes(externalTensor(c.location, 3, Entry{"offset", "4"}))
				if err != nil {
					t.Fatal(err)
				}
				if c.name != "embedded" && string(got) != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			}
			_, err := l.Bytes(externalTensor(c.location, 3, Entry{"offset", "1000000"}))
			wantError(t, err, "not within")
		})
	}
}

// lyingFS claims that its one file is larger than it is.
type lyingFS struct{ fstest.MapFS }

type lyingFile struct{ fs.File }
type lyingInfo struct{ fs.FileInfo }

func (l lyingFS) Open(name string) (fs.File, error) {
	f, err := l.MapFS.Open(name)
	return lyingFile{f}, err
}
func (f lyingFile) Stat() (fs.FileInfo, error) {
	i, err := f.File.Stat()
	return lyingInfo{i}, err
}
func (lyingInfo) Size() int64 { return 1 << 40 }

func TestSizeIsAClaim(t *testing.T) {
	l := NewLoader(FS(lyingFS{fstest.MapFS{"a": {Data: []byte("short")}}}), nil)
	var err error
	got := allocated(func() { _, err = l.Bytes(externalTensor("a", 1<<30)) })
	wantError(t, err, "unexpected EOF")
	if got > 1<<20 {
		t.Errorf("%d bytes allocated", got)
	}
}

// mappedSource serves sub-slices of one block, as a mapped file would.
type mappedSource struct {
	data   []byte
	opened int
	closed int
}

func (m *mappedSource) Open(string) (Blob, error)          { m.opened++; return m, nil }
func (m *mappedSource) Size() int64                        { return int64(len(m.data)) }
func (m *mappedSource) Range(off, n int64) ([]byte, error) { return m.data[off : off+n], nil }
func (m *mappedSource) Close() error                       { m.closed++; return nil }

func TestMappedSource(t *testing.T) {
	m := &mappedSource{data: make([]byte, 1000)}
	l := NewLoader(m, nil)
	for i := range 10 {
		b, err := l.Bytes(externalTensor("w", 100, Entry{"offset", fmt.Sprint(100 * i)}))
		if err != nil {
			t.Fatal(err)
		}
		if &b[0] != &m.data[100*i] {
			t.Error("mapped bytes were copied")
		}
	}
	_, err := l.Bytes(externalTensor("w", 100, Entry{"offset", "901"}))
	wantError(t, err, "bytes 901 to 1001 are not within")
	if err := l.Close(); err != nil || m.opened != 1 || m.closed != 1 {
		t.Errorf("opened %d times, closed %d times, %v", m.opened, m.closed, err)
	}
}

func TestExternalBools(t *testing.T) {
	tensor := externalTensor("w", 2)
	tensor.DataType = Bool
	_, err := NewLoader(&mappedSource{data: []byte{1, 2}}, nil).Bytes(tensor)
	wantError(t, err, `"w"`, "bool element 1 is 2")
}
