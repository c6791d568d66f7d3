// Package apiserver declares the facts read from the kube-apiserver: which
// instances there are and by which way each can be asked, what their health
// endpoints say, and what their metrics say of requests, of the store under
// them and of flow control.
package apiserver
