// Package etcd declares the facts read from etcd: what its members say through
// gRPC, where a client certificate is at hand, and what their metrics say,
// which a kubeconfig alone can reach.
package etcd
