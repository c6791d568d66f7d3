// Package certificates declares the facts about certificates: what the cluster
// presents, what it trusts and what this run was given.
package certificates
