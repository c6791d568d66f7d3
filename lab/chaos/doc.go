// Package chaos breaks etcd clusters while ktriage works on them, under clients
// that check every answer: no write that was acknowledged is lost, what is read
// is linearizable, no member is touched while another is away, and what is
// called done is done.
//
// It needs root, KTRIAGE_BIN, and the lab's etcd (go run ./cmd/lab build).
package chaos
