// Package collectors turns what a cluster answers into a Snapshot of facts.
//
// A Source answers requests and changes nothing. A Fact says whom to ask, what
// to ask and how to read the replies, and does no I/O itself. Collect is the
// only bridge between the two: it puts together the requests of all facts, so
// that facts which want the same reply share one request; it reads lists page
// by page and metrics line by line, so that memory does not grow with the
// cluster; and it turns every failure, a panic included, into a Gap.
package collectors
