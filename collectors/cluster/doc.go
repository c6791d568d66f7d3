// Package cluster declares the facts about what kind of cluster this is and
// where the parts of its control plane run. All other facts start from them.
package cluster
