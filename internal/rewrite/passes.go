package rewrite

// passes are all rules, in the order in which Run makes them. The reason
// behind each is that of its place.
var passes = []pass{
	{"caches", program | required, caches},         // what they hide may be constant, which the rules below ask
	{"transposes", 0, transposes},                  // a transpose that goes needs no contiguous copy
	{"batch_norm", constants | inexact, batchNorm}, // before widen, whose casts hide the pattern, and fold, which computes the weights
	{"widen", required, widen},                     // the ops are final; its casts are elementwise work for fold and fuse
	{"contiguous", required, contiguous},           // the readers are final; fold then copies constants, and not each run
	{"fold", constants, fold},                      // only then are one-element constants there for fuse to take in
	{"recompute", 0, recompute},                    // fuse keeps what has several readers, so that comes after
	{"fuse", 0, fuse},                              // the elementwise nodes are all there
	{"nest", program, nest},                        // concatenations of equal parts are told by the values that they read
	{"outputs", program | required, outputs},       // last: a rule that merged an output into another value would undo it
}
