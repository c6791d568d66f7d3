// Package inventory declares the facts about all certificates of a control
// plane: what its servers show, what it trusts, and what lies on this machine.
package inventory

import "github.com/ktriage/ktriage/collectors"

// All is the target of facts about certificates as a whole.
var All = collectors.Target{Component: collectors.Certificates}
