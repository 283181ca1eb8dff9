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
//   - a depth-first walk from the ends of the graph, which visits the inputs of
//     a step by the peak of the subtree below them, the most wasteful first
//     (Sethi and Ullman 1970; Liu 1987);
//   - list schedules, which run at each moment the step that is best by bytes
//     freed, or by a short look at what it enables;
//   - both of these on the graph turned round, from its outputs to its inputs;
//   - a beam search, where the best of these is above what some step takes by
//     itself.
//
// Chains, blocks and cells, which most networks are made of, are settled by the
// first three. The search is for graphs without such a structure, such as the
// randomly wired networks of Xie et al. (ICCV 2019), and for sizes that mislead
// the others.
//
// # The search
//
// The bytes alive between two steps depend only on the set of steps run. So the
// search goes from set to set, as the dynamic programming of SERENITY does (Ahn
// et al., MLSys 2020), but keeps a few sets of each size only, those with the
// fewest bytes alive. It is asked for an order within a bound, refuses every step
// that exceeds it, and bisects over the bound, from the start of the program and
// from its end. A step that fits and frees as much as it allocates loses nothing,
// and is taken without alternatives.
//
// The search counts its work, and ends when it has done enough. The package reads
// no clock, no environment and no random source: the same problem gives the same
// orders, unless the context ends.
package schedule
