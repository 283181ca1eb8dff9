package wire

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// An externalRange says where the elements of a tensor are, in the form of
// [Tensor.Raw].
type externalRange struct {
	// location is the path of the file, as the model gives it: by the
	// specification slash-separated and relative to the model's directory.
	location string
	// offset and length are in bytes. length is what DataType and Dims call for.
	offset, length int64
	// checksum is the SHA-1 digest of the whole file in hexadecimal, or empty.
	checksum string
}

// externalRange parses ExternalData. Keys other than the specified ones are
// ignored.
func (t *Tensor) externalRange() (externalRange, error) {
	_, size, err := t.size()
	if err != nil {
		return externalRange{}, err
	}
	values := make(map[string]string, 4)
	for _, e := range t.ExternalData {
		switch e.Key {
		case "location", "offset", "length", "checksum":
			if _, twice := values[e.Key]; twice {
				return externalRange{}, fmt.Errorf("external_data gives %s twice", e.Key)
			}
			values[e.Key] = e.Value
		}
	}
	r := externalRange{location: values["location"], length: size, checksum: strings.ToLower(values["checksum"])}
	if r.location == "" {
		return externalRange{}, errors.New("external_data gives no location")
	}
	if r.offset, err = sizeIn(values, "offset", 0); err != nil {
		return externalRange{}, err
	}
	length, err := sizeIn(values, "length", size)
	if err != nil {
		return externalRange{}, err
	}
	if length != size {
		return externalRange{}, fmt.Errorf("external_data length is %d, want %d for %v %v", length, size, t.DataType, t.Dims)
	}
	if r.offset+r.length < 0 {
		return externalRange{}, fmt.Errorf("external_data offset %d with length %d overflows", r.offset, r.length)
	}
	if r.checksum != "" {
		if b, err := hex.DecodeString(r.checksum); err != nil || len(b) != sha1.Size {
			return externalRange{}, fmt.Errorf("external_data checksum %s is not a SHA-1 digest", quote(r.checksum))
		}
	}
	return r, nil
}

// sizeIn returns the number of bytes under a key: decimal digits alone, no sign. It
// is def where there is none.
func sizeIn(values map[string]string, key string, def int64) (int64, error) {
	s, ok := values[key]
	if !ok {
		return def, nil
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		// The error of strconv repeats the whole string, however long.
		return 0, fmt.Errorf("external_data %s %s: not a number of bytes from 0 to 2^63-1", key, quote(s))
	}
	return int64(n), nil
}

// A Source gives access to the files that a model keeps weights in.
//
// Locations come from the model and must not be trusted; [CleanLocation]
// refuses the ones that leave the model's directory. [OpenDir] and [FS] are
// the implementations of this package.
type Source interface {
	// Open returns the file at location.
	Open(location string) (Blob, error)
}

// A Blob is one file of external data. It may be held in memory, mapped or
// read piece by piece.
type Blob interface {
	// Size returns the length of the file in bytes.
	Size() int64
	// Range returns the n bytes from off, a range that lies within the file.
	// The result is not to be written to; it is valid until Close.
	Range(off, n int64) ([]byte, error)
	// Close releases the file, and with it every result of Range that aliases
	// a mapping.
	Close() error
}

// CleanLocation returns location in a canonical form that satisfies
// [io/fs.ValidPath], or an error when it could leave the directory it is
// relative to or means different files on different systems: an absolute
// path, one with a ".." element, a backslash, a colon or a NUL.
func CleanLocation(location string) (string, error) {
	switch {
	case location == "":
		return "", errors.New("external data: location is empty")
	case strings.HasPrefix(location, "/"):
		return "", fmt.Errorf("external data: location %s is absolute", quote(location))
	case strings.ContainsAny(location, "\\:\x00"):
		return "", fmt.Errorf("external data: location %s has a backslash, colon or NUL", quote(location))
	}
	for elem := range strings.SplitSeq(location, "/") {
		if elem == ".." {
			return "", fmt.Errorf("external data: location %s has a .. element", quote(location))
		}
	}
	clean := path.Clean(location)
	if clean == "." {
		return "", fmt.Errorf("external data: location %s is a directory", quote(location))
	}
	return clean, nil
}
