// Package etcdview makes the documents of the commands about etcd: what its
// members say of themselves, what fills the store, how fast it is. It judges
// nothing that a check does not judge, and what could not be asked is in it
// with its reason.
package etcdview
