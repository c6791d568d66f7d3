// Package text writes a report for a person at a terminal.
package text
