// Package live is the Source that asks a real cluster, and the only package
// of ktriage that dials to read. It changes nothing there, keeps the number of
// requests in flight and per second bounded, and turns every failure into a
// Gap that says in words what was tried and what came back.
//
// A control plane that is asked is often a sick one, and an operator waits for
// the verdict. So what is asked by an answer goes before what is not, no server
// keeps the others from being asked, a connection gets less time than an answer,
// a way with another behind it less than the last, and what hung for several is
// not waited for again. A run ends within some ten seconds after its window, at
// the price of what did not come in that time.
//
// Credentials go only where it is certain who receives them: a bearer token is
// sent to a server whose certificate the kubeconfig's CA signed for a name that
// only an API server, scheduler or controller manager has, and to nobody else,
// unless the user says so; never to a kubelet, whatever its certificate says. A
// client certificate may be shown to anyone, since its key never leaves this
// process.
package live
