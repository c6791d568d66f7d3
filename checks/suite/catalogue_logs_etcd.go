package suite

// logsEtcdRules tells of the rules of section 3.1, etcd's log, that have no
// check of their own.
var logsEtcdRules = decisions{
	section: "3.1",
}
