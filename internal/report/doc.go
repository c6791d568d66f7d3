// Package report makes one versioned document of a run, and renders it. Every
// renderer reads the document alone, so that a saved report renders into any
// form.
package report
