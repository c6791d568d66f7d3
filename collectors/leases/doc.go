// Package leases declares the facts about leader election: who holds each
// lease and when it was last renewed, by the API server's clock, and what the
// components that elect a leader say of themselves.
package leases
