package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/remediate"
)

// TestPlansCannotMoveTheCursor holds that a plan that somebody else made shows as
// it is, line by line.
func TestPlansCannotMoveTheCursor(t *testing.T) {
	const evil = "x\x1b[2J\r\n9. harmless\u202e"
	p := &remediate.Plan{
		Recipe: evil, Notes: []string{evil}, State: remediate.State{ClusterID: evil, Leader: evil, Members: []remediate.MemberState{{Name: evil}}},
		Steps: []remediate.Step{{Action: remediate.Action{Kind: remediate.Kind(evil)}, Why: evil, Effect: evil, Manual: evil, Undo: evil}},
	}
	var plan bytes.Buffer
	show(&plan, p)
	var notes bytes.Buffer
	a := &app{Invocation: Invocation{Stderr: &notes}}
	a.note("%s", "x\x1b[2J\rgone")
	for _, out := range []string{plan.String(), notes.String()} {
		if strings.ContainsAny(out, "\x1b\r\u202e") || strings.Contains(out, "\n9.") {
			t.Errorf("got %q", out)
		}
	}
}
