package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/berth-go/berth/internal/filemap"
)

// A Dir is a [Source] of the files below one directory.
//
// Files are mapped into memory where the system can do that, and must not
// shrink until they are closed.
//
// It is confined by [os.Root]: no location, and no change made to the
// directory meanwhile, reaches a file outside of it. On top of that it
// refuses every symbolic link, every file that is not a regular one and every
// file with more than one hard link, because an archive with a model in it
// can carry links to files of the machine that unpacks it.
//
// The number of hard links is known on Unix systems and on Windows; elsewhere
// that check is left out. On Windows, reserved device names and other reparse
// points such as junctions are refused as well.
type Dir struct {
	root *os.Root
	fsSource
}

// OpenDir returns the files below the directory name.
func OpenDir(name string) (*Dir, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("external data: %w", err)
	}
	return &Dir{root, fsSource{root.FS()}}, nil
}

// Close closes the directory. Blobs opened in it can no longer be read.
func (d *Dir) Close() error { return d.root.Close() }

// FS returns a [Source] of the files in fsys.
//
// It makes the same checks as [Dir] does as far as fsys tells what they need:
// links are seen when it implements [fs.ReadLinkFS]. Note that [os.DirFS]
// follows links that lead out of its directory, although this Source refuses
// the ones it sees; for a directory, prefer [OpenDir].
func FS(fsys fs.FS) Source { return fsSource{fsys} }

type fsSource struct{ fsys fs.FS }

// Open implements [Source].
func (s fsSource) Open(location string) (Blob, error) {
	name, err := CleanLocation(location)
	if err != nil {
		return nil, err
	}
	f, info, err := s.open(name)
	if err != nil {
		return nil, fmt.Errorf("external data: %w", err)
	}
	b := &fsBlob{source: s, name: name, info: info}
	if file, ok := f.(*os.File); ok {
		b.all, b.unmap, _ = filemap.Map(file, info.Size())
	}
	// What cannot be mapped is opened again for each range: a model may have
	// thousands of files, and the process a few hundred descriptors.
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("external data: %w", errors.Join(err, b.Close()))
	}
	return b, nil
}

// open opens the regular file at name, which has no links on its way.
func (s fsSource) open(name string) (fs.File, fs.FileInfo, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := fs.Lstat(s.fsys, dir)
		if err != nil {
			return nil, nil, err
		}
		if !info.IsDir() {
			return nil, nil, fmt.Errorf("%s is not a directory but a %s", quote(dir), modeName(info.Mode()))
		}
	}
	before, err := fs.Lstat(s.fsys, name)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file but a %s", quote(name), modeName(before.Mode()))
	}
	f, err := s.fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = checkOpened(name, before, f, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// checkOpened reports an opened file that is another one than was seen before
// it was opened, or that has several names.
func checkOpened(name string, before fs.FileInfo, f fs.File, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file but a %s", quote(name), modeName(info.Mode()))
	}
	if !sameFile(before, info) {
		return fmt.Errorf("%s was replaced while it was opened", quote(name))
	}
	if n, ok := linkCount(f, info); ok && n > 1 {
		return fmt.Errorf("%s has %d hard links, want 1", quote(name), n)
	}
	return nil
}

// sameFile reports whether a and b are of one file. Files that are not of the
// operating system have no identity: these always pass.
func sameFile(a, b fs.FileInfo) bool {
	return !os.SameFile(a, a) || os.SameFile(a, b)
}

func modeName(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m.IsDir():
		return "directory"
	case m.IsRegular():
		return "regular file"
	}
	return fmt.Sprintf("special file (%v)", m.Type())
}

// An fsBlob is a file of an [fs.FS]: mapped, or opened anew for each range.
type fsBlob struct {
	source fsSource
	name   string
	info   fs.FileInfo // as of when it was first opened
	// all is the whole file, when it is mapped or can only be read from its
	// beginning.
	all   []byte
	unmap func() error // nil unless all is mapped
}

func (b *fsBlob) Size() int64 { return b.info.Size() }

func (b *fsBlob) Close() error {
	if b.unmap == nil {
		return nil
	}
	unmap := b.unmap
	b.all, b.unmap = nil, nil
	return unmap()
}

func (b *fsBlob) Range(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > b.Size() || n > b.Size()-off {
		return nil, fmt.Errorf("%s: bytes %d to %d are not within its %d", quote(b.name), off, off+n, b.Size())
	}
	if b.unmap != nil {
		// The mapping outlives the name, but not a file that was cut short.
		if info, err := fs.Stat(b.source.fsys, b.name); err != nil || !sameFile(b.info, info) || info.Size() != b.Size() {
			return nil, errors.Join(fmt.Errorf("%s has changed since it was opened", quote(b.name)), err)
		}
	}
	if b.all != nil {
		return b.all[off : off+n : off+n], nil
	}
	f, info, err := b.source.open(b.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !sameFile(b.info, info) || info.Size() != b.Size() {
		return nil, fmt.Errorf("%s has changed since it was opened", quote(b.name))
	}
	if r, ok := f.(io.ReaderAt); ok {
		p := make([]byte, n) // the file has that many
		if m, err := r.ReadAt(p, off); int64(m) < n {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("%s: %w", quote(b.name), err)
		}
		return p, nil
	}
	// What Size says is a claim here; memory grows with what is really read.
	var all bytes.Buffer
	if _, err := io.Copy(&all, io.LimitReader(f, b.Size())); err != nil {
		return nil, fmt.Errorf("%s: %w", quote(b.name), err)
	}
	if int64(all.Len()) != b.Size() {
		return nil, fmt.Errorf("%s: %w", quote(b.name), io.ErrUnexpectedEOF)
	}
	b.all = all.Bytes()
	return b.all[off : off+n : off+n], nil
}
