// Package namespaces declares the facts about namespaces: which of them are
// being deleted and cannot be.
package namespaces
