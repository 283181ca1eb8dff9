package wire

import (
	"cmp"
	"errors"
	"math"
)

// Limits bound what a decoder accepts. A zero field stands for its default,
// and so does a nil *Limits for all of them.
type Limits struct {
	// MaxDepth bounds the nesting of graphs in attributes, of types, of
	// sequences and optionals, and of groups in unknown fields. Default 64.
	MaxDepth int
	// MaxNodes, MaxAttributes and MaxTensors bound the totals over a file,
	// subgraphs and functions included. Defaults 1<<20, 1<<22 and 1<<20.
	MaxNodes      int
	MaxAttributes int
	MaxTensors    int
	// MaxRank bounds the dimensions of tensors and types. Default 64.
	MaxRank int
	// MaxMemory bounds the bytes of the decoded structs, slices and strings;
	// weights are not copied and do not count. The default is 16 MiB plus 32
	// times the length of the input: a node that takes 2 bytes in a hostile
	// file needs some 200 in memory, while real models need up to 15 times
	// their bytes that are not weights.
	MaxMemory int64
	// MaxExternalBytes bounds what a [Loader] reads from external files in
	// all. Default 16 GiB.
	MaxExternalBytes int64
}

// ErrLimit is matched by errors that say that an input exceeds [Limits].
var ErrLimit = errors.New("limit exceeded")

// A quota is a kind of message whose total over a file is bounded.
type quota int

const (
	noQuota quota = iota
	quotaNodes
	quotaAttributes
	quotaTensors
	numQuotas
)

var quotaNames = [numQuotas]string{"", "nodes", "attributes", "tensors"}

// quotas returns the bound on each kind.
func (l *Limits) quotas() [numQuotas]int {
	return [numQuotas]int{math.MaxInt, l.MaxNodes, l.MaxAttributes, l.MaxTensors}
}

// withDefaults returns l with its zero fields set, for an input of size bytes.
func (l *Limits) withDefaults(size int) Limits {
	var r Limits
	if l != nil {
		r = *l
	}
	r.MaxDepth = cmp.Or(r.MaxDepth, 64)
	r.MaxNodes = cmp.Or(r.MaxNodes, 1<<20)
	r.MaxAttributes = cmp.Or(r.MaxAttributes, 1<<22)
	r.MaxTensors = cmp.Or(r.MaxTensors, 1<<20)
	r.MaxRank = cmp.Or(r.MaxRank, 64)
	r.MaxMemory = cmp.Or(r.MaxMemory, 16<<20+32*int64(size))
	r.MaxExternalBytes = cmp.Or(r.MaxExternalBytes, 16<<30)
	return r
}
