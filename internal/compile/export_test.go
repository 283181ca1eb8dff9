package compile

// Resized is resized, for the tests.
var Resized = resized
