// Package plan decides, before anything runs, in which order the nodes of a
// graph are computed and which buffer each result is written to.
//
// [New] reads top to bottom as the planner works:
//
//  1. order.go puts every node after its inputs; constants and filled caches
//     are leaves.
//  2. alias.go walks that order once. It decides which nodes have a buffer of
//     their own ([NoAlias]), which are another node's buffer ([Alias]) and
//     which become the canonical version of their input ([Takeover]), and
//     freezes for each node the values it will really read.
//  3. lifetime.go notes the last step that reads each value.
//  4. assign.go gives every output its storage, one of five [Kind]s, and makes
//     the lists of buffers to drop after each step.
//
// check.go proves a finished plan without any of the planner's code, and
// text.go prints one.
//
// The same graph always gives the same plan. Planning n nodes takes
// O(n log n) time.
package plan
