// Package remediate plans changes to a cluster and applies them one guarded
// step at a time. A plan is data, made without touching anything; what carries
// out its steps is the one interface of ktriage that writes.
package remediate
