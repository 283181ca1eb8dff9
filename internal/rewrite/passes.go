package rewrite

// passes are all rules, in the order in which Run makes them. The reason
// behind each is that of its place.
var passes = []pass{
	{"caches", program | required, caches},         // what a cache holds may be constant, which batch_norm asks
	{"common", 0, common},                          // before rules ask who else reads a value
	{"qdq", inexact, qdq},                          // fold would dequantise the weights
	{"transposes", 0, transposes},                  // a transpose that goes needs no contiguous copy
	{"batch_norm", constants | inexact, batchNorm}, // fold computes the new weights
	{"affine", constants | inexact, affine},        // what batch_norm has made has no readers more
	{"batch_map", constants, batchMap},             // what no convolution has done
	{"channels_last", program, channelsLast},       // batch_norm and affine look for channels where they are
	{"normalise", inexact, normalise},              // means and roots are nodes of their own only before widen casts and fuse merges them
	{"widen", required, widen},                     // a cast writes dense what contiguous would copy; casts are work for fold and fuse
	{"halves", program, halves},                    // fold would compute the casts of them
	{"contiguous", required, contiguous},           // the readers are final; fold then copies constants, and not each run
	{"fold", constants, fold},                      // only then are one-element constants there for fuse to take in
	{"winograd", program | inexact, winograd},      // the weights are constants by then, in float32
	{"recompute", 0, recompute},                    // fuse keeps what has several readers, so that comes after
	{"fuse", 0, fuse},                              // the elementwise nodes are all there
	{"activations", inexact, activations},          // a program holds all of one only after fuse, and is out of reach once it is an epilogue
	{"simplify", 0, simplify},                      // what fuse has merged, and activations left
	{"epilogue", 0, epilogue},                      // an op has one, so what is to be in it is merged by then
	{"bottleneck", program, bottleneck},            // what lies between them has its programs by then
	{"nest", program, nest},                        // concatenations of equal parts are told by the values that they read
	{"outputs", program | required, outputs},       // last, when it is known what the roots are
}
