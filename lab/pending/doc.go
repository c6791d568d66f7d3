// Package pending holds what ktriage says of Pending pods against the real
// kube-scheduler: of random clusters and pods, whether a pod can be scheduled and
// the counts of reasons in the scheduler's own message must be the same.
//
// It does so in two ways. The scheduler as a library judges many thousands of pods
// in a minute, of which nothing is placed. The scheduler of the lab is the last
// judge; on it the changes that ktriage proposes are tried too.
package pending
