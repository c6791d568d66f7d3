// Package metrics reads the Prometheus text format as a triage tool must:
// line by line, keeping only the wanted families, with the labels that nobody
// asked for summed away while the body streams in. A body of 100 MB costs the
// memory of what is wanted of it.
//
// github.com/prometheus/common/expfmt reads whole bodies into memory, one
// structure a series; the tests hold this reader against it.
package metrics
