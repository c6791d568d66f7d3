// Package capture records what a run asked and got, and plays it back. Test
// scripts and, later, the bundles of other tools are Sources here too.
package capture
