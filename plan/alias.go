package plan

import (
	"slices"

	"github.com/berth-go/berth/graph"
)

// An AliasKind says whether a node has a buffer of its own.
type AliasKind uint8

const (
	// NoAlias nodes produce a value of their own.
	NoAlias AliasKind = iota
	// Alias nodes are another node's buffer; no step is run for them.
	Alias
	// Takeover nodes are computed, and from their place in the order on they
	// stand for their input: whoever wanted that reads them instead.
	Takeover
)

// A Tag says what an alias guarantees about the layout of its target.
type Tag uint8

const (
	// Anything: the same elements, in no particular layout.
	Anything Tag = iota
	// AsContiguous: row-major without gaps.
	AsContiguous
	// AsContiguousCache: contiguous, and kept from one run to the next.
	AsContiguousCache
)

// valueID numbers the values of one plan in execution order, so that tables
// of values are slices.
type valueID = int32

const none valueID = -1

// aliasMap maps a value to the value that really holds its elements, by valueID.
// It stays single-hop: a target is never itself in the map.
type aliasMap []aliasEntry

type aliasEntry struct {
	target valueID // none: the value holds its own elements
	tag    Tag
	// The values that point at this one form a list, so that a takeover
	// rewrites them without looking at the rest of the map.
	firstUser, nextUser valueID
}

func newAliasMap(values int) aliasMap {
	return slices.Repeat(aliasMap{{target: none, firstUser: none, nextUser: none}}, values)
}

// resolve returns the value that holds the elements of v, and what the alias
// that led there guarantees.
func (m aliasMap) resolve(v valueID) (valueID, Tag) {
	if e := m[v]; e.target != none {
		return e.target, e.tag
	}
	return v, Anything
}

// alias makes v stand for target, which must be resolved.
func (m aliasMap) alias(v, target valueID, tag Tag) {
	e, t := &m[v], &m[target]
	e.target, e.tag = target, tag
	e.nextUser, t.firstUser = t.firstUser, v
}

// takeover makes owner the target of claimed, which must be resolved, and of
// everything that pointed at claimed.
//
// Each value changes its target at most twice, from Anything to AsContiguous
// to AsContiguousCache, because what is a cache already is not claimed again;
// all takeovers of a plan together cost linear time.
func (m aliasMap) takeover(claimed, owner valueID, tag Tag) {
	for user := m[claimed].firstUser; user != none; {
		next := m[user].nextUser
		m.alias(user, owner, tag)
		user = next
	}
	m.alias(claimed, owner, tag) // from here on nothing resolves to claimed
}

// staged is the graph in execution order with every decision that depends on
// the order alone.
type staged struct {
	values  []value
	steps   []stagedStep
	results []stagedResult
}

// value is a value of the plan.
type value struct {
	graph.Value
	leaf bool
	// tag is what the value guarantees about its own layout. Only views
	// depend on the layout of what they read, and so guarantee nothing.
	tag Tag
}

// stagedStep is a node that will be run, with the values it reads as the
// alias map stood at its place in the order.
type stagedStep struct {
	node   *graph.Node
	inputs []valueID // resolved; none where an optional input is absent
	first  valueID   // its outputs are first, first+1, ...
}

type stagedResult struct {
	asked    graph.Value
	resolved valueID
}

// stage classifies each node and freezes its inputs, in one walk.
func stage(nodes []ordered, roots []graph.Value) *staged {
	st := &staged{}
	firstOf := make(map[*graph.Node]valueID, len(nodes))
	for _, o := range nodes {
		firstOf[o.node] = valueID(len(st.values))
		tag := guarantee(o)
		for i := range o.node.NumOutputs() {
			st.values = append(st.values, value{o.node.Output(i), o.leaf, tag})
		}
	}
	idOf := func(v graph.Value) valueID { return firstOf[v.Node()] + valueID(v.Index()) }
	aliases := newAliasMap(len(st.values))

	for _, o := range nodes {
		if o.leaf {
			continue
		}
		n := o.node
		step := stagedStep{node: n, first: firstOf[n], inputs: make([]valueID, n.NumInputs())}
		var tag Tag // of the first input: how it is known, or what it is itself
		for i := range step.inputs {
			in := n.Input(i)
			if in.IsZero() {
				step.inputs[i] = none
				continue
			}
			var known Tag
			step.inputs[i], known = aliases.resolve(idOf(in))
			if i == 0 {
				tag = max(known, st.values[step.inputs[i]].tag)
			}
		}
		kind := NoAlias
		switch n.Op().(type) {
		case graph.Identity:
			kind = Alias
		case graph.Contiguous:
			if kind = Takeover; tag >= AsContiguous {
				kind = Alias // a copy already, or never strided
			}
		case graph.Cache:
			kind = Takeover
		}
		if kind == Alias {
			// The seed gives an identity the tag Anything; whatever is known
			// of its target beyond that is known of the identity too.
			aliases.alias(step.first, step.inputs[0], tag)
			continue
		}
		st.steps = append(st.steps, step)
		// The claim comes after the node's own inputs are frozen, so that it
		// reads what it copies and not itself.
		if owned := st.values[step.first].tag; kind == Takeover && tag < AsContiguousCache {
			aliases.takeover(step.inputs[0], step.first, owned)
		}
	}
	for _, r := range roots {
		resolved, _ := aliases.resolve(idOf(r))
		st.results = append(st.results, stagedResult{r, resolved})
	}
	return st
}

// guarantee returns what the outputs of a node guarantee about their layout,
// wherever the planner puts them.
func guarantee(o ordered) Tag {
	switch o.node.Op().(type) {
	case graph.Cache:
		return AsContiguousCache
	case graph.Constant:
		if !o.node.Stored().Layout.IsDense() {
			return Anything
		}
	case graph.Identity, graph.Viewer:
		return Anything
	}
	return AsContiguous
}
