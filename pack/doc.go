// Package pack decides where bytes go: given when each buffer is live and how
// large it is, it assigns every buffer an offset in one arena so that no two
// buffers that are live together share a byte, in an arena as small as it can.
//
// The package knows integers only: no tensors, no element types, no device.
package pack
