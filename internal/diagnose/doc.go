// Package diagnose tells causes from symptoms. It folds each finding under the
// one that explains it, by one table of links that reads as a model of the
// control plane, and never drops a finding.
package diagnose
