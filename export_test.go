package berth

// Apply returns promises of the n outputs of an op that has no method.
var Apply = applyAll
