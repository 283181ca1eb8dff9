package wire

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
)

// A Loader reads the elements of tensors wherever they are, opening each
// external file once. It is not safe for concurrent use.
//
// Ranges that are asked for again, as tied weights are, are read once and
// shared. Distinct ranges of one file may add up to four times its size:
// a small file cannot be made into many large tensors.
type Loader struct {
	source Source
	left   int64 // of Limits.MaxExternalBytes
	max    int64
	files  map[string]*externalFile
}

// overlap is how often the ranges read from a file may cover it.
const overlap = 4

type externalFile struct {
	blob   Blob
	left   int64 // bytes that may still be read
	ranges map[[2]int64][]byte
	digest string // SHA-1 in hexadecimal; empty until it is needed
}

// NewLoader returns a Loader that opens external files in source; a nil
// source refuses them. A nil l stands for the default limits. Close must be
// called when the bytes are no longer in use.
func NewLoader(source Source, l *Limits) *Loader {
	limits := l.withDefaults(0)
	return &Loader{
		source: source,
		left:   limits.MaxExternalBytes,
		max:    limits.MaxExternalBytes,
		files:  make(map[string]*externalFile),
	}
}

// Bytes returns the elements of t as [Tensor.Bytes] does, reading those that
// are external. The result is not to be written to; for external data it is
// valid until Close. Bytes of a nil Loader refuses external data.
func (l *Loader) Bytes(t *Tensor) ([]byte, error) {
	if !t.External {
		return t.Bytes()
	}
	b, err := l.external(t)
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", quote(t.Name), err)
	}
	return b, nil
}

func (l *Loader) external(t *Tensor) ([]byte, error) {
	if l == nil || l.source == nil {
		return nil, errors.New("elements are in an external file, and no directory was given to read it from")
	}
	if t.Segment != nil {
		return nil, errSegmented
	}
	r, err := t.externalRange()
	if err != nil {
		return nil, err
	}
	location, err := CleanLocation(r.location)
	if err != nil {
		return nil, err
	}
	file, err := l.open(location)
	if err != nil {
		return nil, err
	}
	if r.checksum != "" {
		if err := file.verify(location, r.checksum); err != nil {
			return nil, err
		}
	}
	b, err := l.read(file, location, r.offset, r.length)
	if err != nil {
		return nil, err
	}
	return b, t.checkBools(b)
}

func (l *Loader) open(location string) (*externalFile, error) {
	if f, ok := l.files[location]; ok {
		return f, nil
	}
	blob, err := l.source.Open(location)
	if err != nil {
		return nil, err
	}
	f := &externalFile{
		blob:   blob,
		left:   blob.Size() * overlap,
		ranges: make(map[[2]int64][]byte),
	}
	if f.left/overlap != blob.Size() {
		f.left = blob.Size() // a size whose multiple overflows
	}
	l.files[location] = f
	return f, nil
}

func (l *Loader) read(f *externalFile, location string, off, n int64) ([]byte, error) {
	size := f.blob.Size()
	if off > size || n > size-off {
		return nil, fmt.Errorf("external data: bytes %d to %d are not within %s, which has %d",
			off, off+n, quote(location), size)
	}
	if n == 0 {
		return []byte{}, nil
	}
	key := [2]int64{off, n}
	if b, ok := f.ranges[key]; ok {
		return b, nil
	}
	if n > f.left {
		return nil, fmt.Errorf("external data: tensors in %s add up to more than %d times its %d bytes: %w",
			quote(location), overlap, size, ErrLimit)
	}
	if n > l.left {
		return nil, fmt.Errorf("external data: more than %d bytes in all: %w", l.max, ErrLimit)
	}
	b, err := f.blob.Range(off, n)
	if err != nil {
		return nil, fmt.Errorf("external data: %w", err)
	}
	if int64(len(b)) != n {
		return nil, fmt.Errorf("external data: read %d bytes of %s, want %d", len(b), quote(location), n)
	}
	f.left -= n
	l.left -= n
	f.ranges[key] = b
	return b, nil
}

// verify compares the digest of the whole file with want.
func (f *externalFile) verify(location, want string) error {
	const piece = 4 << 20
	if f.digest == "" {
		h := sha1.New()
		for off, size := int64(0), f.blob.Size(); off < size; off += piece {
			b, err := f.blob.Range(off, min(piece, size-off))
			if err != nil {
				return fmt.Errorf("external data: %w", err)
			}
			h.Write(b)
		}
		f.digest = hex.EncodeToString(h.Sum(nil))
	}
	if f.digest != want {
		return fmt.Errorf("external data: the SHA-1 digest of %s is %s, want %s", quote(location), f.digest, want)
	}
	return nil
}

// Close closes the external files. The bytes of external tensors are no
// longer valid.
func (l *Loader) Close() error {
	if l == nil {
		return nil
	}
	var errs []error
	for _, f := range l.files {
		errs = append(errs, f.blob.Close())
	}
	clear(l.files)
	return errors.Join(errs...)
}
