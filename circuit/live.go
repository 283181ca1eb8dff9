package circuit

// A LiveRange says in which groups of a plan a stored edge is live: from Start
// to End, both included, as indices in FusionPlan.Groups.
type LiveRange struct {
	Edge       EdgeID
	Start, End int
}

// LiveRanges returns the live range of every materialised edge of p, in
// ascending order of edges.
//
// An edge is live from the group that writes it to the last group that reads it;
// only in the former if none does. An edge that is read or written outside the
// plan is live in all of it, from group 0 to the last: the inputs of the circuit,
// the edges written or read by another section, and the declared outputs. In a
// plan without groups that is group 0.
//
// Both ends are included, so an edge that a group reads and one that it writes
// are live together, even when it is the last reader of the former. In the
// half-open terms of package pack a range is [Start, End+1).
func LiveRanges(c *Circuit, p *FusionPlan) ([]LiveRange, error) {
	a, err := analyze(c, p)
	if err != nil {
		return nil, err
	}
	ranges := make([]LiveRange, 0, len(p.Stored))
	for e, stored := range a.stored {
		if stored {
			ranges = append(ranges, a.live(EdgeID(e)))
		}
	}
	return ranges, nil
}

// live returns the live range of one stored edge.
func (a *analysis) live(e EdgeID) LiveRange {
	first, last := a.first[e], a.last[e]
	if first == outside || last == outside {
		return LiveRange{e, 0, max(0, len(a.p.Groups)-1)}
	}
	return LiveRange{e, first, max(first, last)}
}
