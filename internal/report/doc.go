// Package report makes one versioned document of a run. Every renderer reads
// that alone, so that a saved report renders into any form.
package report
