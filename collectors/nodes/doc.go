// Package nodes declares the facts about nodes as the control plane sees them:
// their conditions, their heartbeats, and the certificates that they ask for.
package nodes

import "github.com/ktriage/ktriage/collectors"

// All is the target of facts about the nodes as a whole.
var All = collectors.Target{Component: collectors.Nodes, Addr: "kube:"}

// maxKept bounds the names that are kept: thousands of nodes have the same
// trouble for the same reason.
const maxKept = 50
