// Package schedule chooses the order in which the steps of a program run so
// that the most bytes alive at once, the peak, are few.
//
// # The model
//
// A [Problem] is a directed acyclic graph of steps and of values between them.
// A value is alive from the first step that touches its bytes to the last, both
// included; one that is kept stays alive to the end, and one that was there
// before the program costs nothing. While a step runs, everything alive before
// it and everything it writes is alive together, save that a value may take
// over the bytes of one as large that dies in this very step (an in-place
// operation). [Peak] is the greatest such sum over the steps of an order. It is
// a lower bound of the arena that a packing of the same lifetimes needs, and
// the packing usually reaches it.
//
// # The orders
//
// [Orders] returns the given order, called the seed, and others that may be
// better:
//
//   - depth-first walks from the ends of the graph, which visit the inputs of a
//     step by the peak of the subtree below them, the most wasteful first
//     (Sethi and Ullman 1970; Liu 1987), by size or by depth;
//   - list schedules, which run at each moment the step that is best by bytes
//     freed, by how high it climbs above where it ends, or by a short look at
//     what it enables;
//   - both of these on the graph turned round, from its outputs to its inputs;
//   - the best mixture of all of these: wherever several orders have run the
//     same set of steps, the rest of one may follow the beginning of another;
//   - a search, which for a given bound decides whether an order with no higher
//     peak exists, and bisects over the bound.
//
// # The search
//
// The bytes alive between two steps depend only on the set of steps run, and
// that function is submodular: it is the weight of a directed hypergraph cut.
// Hence the rule that carries the search. Say a set S has been run, and a set T
// around it can be reached without exceeding the bound. If T has no more bytes
// alive than any set between S and T that a program may stop at, then whatever
// can be completed from S can be completed from T: nothing is lost by going to
// T at once. The least such set between S and a set reached is a minimum cut.
// A step that frees at least as much as it allocates, and fits under the bound,
// is the smallest case. The rule reads the same backwards from the end of the
// program, and the search takes turns between both ends. What lies between them
// falls into pieces that have nothing to do with each other, which are searched
// one by one. So deep networks fall into their blocks, and trees and most
// series-parallel graphs need little choice. What choice is left is a
// depth-first search that remembers the sets it has found hopeless.
//
// When the search runs dry at one bound and succeeds at the next possible one,
// the order is marked optimal. Where it takes too long, what is left between
// the two ends goes to the heuristics and to a beam search, and the
// neighbourhood of the highest steps is searched window by window.
//
// The sets are remembered by a hash of 128 bits under fixed keys. A proof of
// optimality thus rests on no two of some millions of sets colliding, a chance
// of less than 2^-80.
//
// The idea of scheduling neural networks by dynamic programming over sets of
// steps is that of SERENITY (Ahn et al., MLSys 2020); that cuts decide where
// schedules of series-parallel graphs meet is due to Liu (1987) and to Kayaaslan
// et al. (2018).
//
// The package reads no clock, no environment and no random source: the same
// problem and budget give the same orders. More budget never gives a higher
// peak, since the budget only says where the search stops.
package schedule
