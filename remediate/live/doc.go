// Package live carries out the actions of a plan. It is the only package of
// ktriage that writes to a cluster.
package live
