// Package checks judges a Snapshot. Checks are pure: no I/O, no clock, no
// globals. Nothing in one can block, fail or lie: a check that panics, forgets
// a target or has nothing to examine yields Unknown, not green.
package checks
