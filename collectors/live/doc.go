// Package live is the Source that asks a real cluster, and the only package
// of ktriage that dials to read. It changes nothing there, keeps the number of
// requests in flight and per second bounded, and turns every failure into a
// Gap that says in words what was tried and what came back.
//
// Credentials go only where it is certain who receives them: a bearer token is
// sent to a server whose certificate the kubeconfig's CA signed for a name that
// only an API server, scheduler or controller manager has, and to nobody else,
// unless the user says so; never to a kubelet, whatever its certificate says. A
// client certificate may be shown to anyone, since its key never leaves this
// process.
package live
