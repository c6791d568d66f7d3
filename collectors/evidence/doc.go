// Package evidence makes a Source of loose files: metrics bodies, kubectl and
// etcdctl output, health reports, logs, as they are attached to a ticket. The
// same facts ask it, and the same checks judge, as on a live cluster.
//
// # Design
//
// Reading goes in three steps, each with its own kind of value:
//
//	File      a name and a way to open it; of a folder, an archive, or stdin
//	document  what one file turned out to be, told by its content (recognise.go);
//	          objects of Kubernetes, a metrics body, an etcdctl table, a log …
//	Evidence  the index of all documents, which is the Source
//
// Facts begin with discovery: they ask for the control plane's pods, then for
// those pods' ports. Evidence has ports without pods: a metrics body is proof
// that a process runs, and of no more. So each body, status and health report
// is given to an instance (instances.go): to the real pod if the evidence has
// it and they can be told to belong together, else to a pod that is made up
// and named after the file. Such pods are shown to the one request that
// discovers instances, and to no other. All of them carry cluster.LooseLabel:
// what the evidence does not hold is then not asked rather than absent, so
// that nobody concludes from a missing file that there is no scheduler.
//
// Everything else is a Gap with the reason NotAsked that begins "the evidence
// holds no", with the command that would get it. Of the two looks of a run
// there is one, the last: counters have no window, and what is judged by a
// lifetime is capped at a warning by the checks themselves.
//
// Time is the evidence's own: the latest timestamp in it, or what the caller
// gives. A metrics body and a list of leases are dated by themselves where
// they can be, since files of one ticket may be hours apart. The clock of the
// machine that reads is never asked.
//
// Memory is bounded: files of a folder are opened again when they are asked
// for, logs are read line by line, the rest is limited in file.go.
package evidence
