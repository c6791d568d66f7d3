// Package remediate plans changes to a cluster and applies them one guarded
// step at a time. It is pure: what it knows comes from a snapshot, and what it
// changes goes through an Actuator, the one interface of ktriage that writes.
//
// A Recipe makes a Plan of a snapshot: steps in order, each with why, with what
// it does to clients, with the command that a careful operator would type, and
// with how to go back. Making a plan changes nothing. A plan holds the state
// that it was made from, and a digest of it: it is applied to that cluster in
// that state, for as long as it is valid, or not at all.
//
// A Run applies a plan:
//
//	guard on fresh facts → act → wait until the cluster is whole again → clear → next
//
// Guards and clears are checks like any other, so that what is not known stops
// a run as what is wrong does. They come from the code, by the kind of a step,
// and never from the file that a plan was read from. Every event goes to a
// Journal before the next thing is done, so that a run that was killed can be
// taken up where it stood.
package remediate
