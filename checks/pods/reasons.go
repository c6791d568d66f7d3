package pods

import (
	"fmt"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors/pods"
)

func fit(n int) string {
	if n == 1 {
		return "1 pod fits"
	}
	return fmt.Sprintf("%d pods fit", n)
}

// describe says of the largest groups what keeps them from nodes.
func describe(groups []pods.Group) string {
	const most = 3
	var out []string
	for _, g := range groups[:min(len(groups), most)] {
		s := because(g) + " (" + g.Example + ")"
		if len(groups) > 1 {
			s = fmt.Sprintf("%d for %s", g.Count, s)
		}
		out = append(out, s)
	}
	if more := len(groups) - most; more > 0 {
		out = append(out, fmt.Sprintf("and %s more", checks.Count(more, "reason")))
	}
	return strings.Join(out, ", ")
}

// because writes the reasons of a group's example: "insufficient cpu on 3 of 5
// nodes, untolerated taint {a: b} on 2".
func because(g pods.Group) string {
	const most = 3
	var out []string
	for i, r := range g.Reasons[:min(len(g.Reasons), most)] {
		switch {
		case r.Nodes == 0:
			out = append(out, r.Text)
		case i == 0 && g.Nodes > 0:
			out = append(out, fmt.Sprintf("%s on %d of %s", r.Text, r.Nodes, checks.Count(g.Nodes, "node")))
		default:
			out = append(out, fmt.Sprintf("%s on %d", r.Text, r.Nodes))
		}
	}
	return strings.Join(out, ", ")
}
