package cli

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/remediate"
)

func (a *app) fix() *cobra.Command {
	var f cureFlags
	cmd := &cobra.Command{
		Use:   "fix [RECIPE]",
		Short: "List what could cure the current findings, or carry a cure out",
		Long: `Without an argument, judge the control plane as ktriage doctor does and list the
recipes that its findings call for. With one, show the plan, ask, and carry it
out as ktriage apply does. --yes does not ask; if the plan touches the member
that leads, it wants --max-stall.

Recipes: ` + recipeNames() + `.

Exit codes: 0 done, or nothing to do; 4 refused, nothing was changed; 5 stopped
on the way; 64 wrong usage.`,
		Example: `  ktriage fix
  ktriage fix etcd-defrag
  ktriage fix etcd-defrag --yes --max-stall 10s --min-interval 24h --window 01:00-05:00`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listCures(cmd, &f)
			}
			r, err := recipe(args)
			if err != nil {
				return err
			}
			s, err := a.surgery(&f)
			if err != nil {
				return err
			}
			defer s.close()
			p, err := s.plan(cmd.Context(), r)
			if err != nil {
				return err
			}
			show(a.Stdout, p)
			switch {
			case len(p.Steps) == 0 || f.dryRun:
				return nil
			case f.yes && p.Options.MaxStall == 0 && onLeader(p):
				return usageError{hinted{fmt.Errorf("--yes with a plan that touches the leader (%s) wants --max-stall", p.State.Leader), "such as --max-stall 10s, after which Kubernetes' own leaders give up"}}
			case !f.yes && !a.agreed(cmd.Context()):
				return coded{fmt.Errorf("not agreed to: nothing was changed"), ExitRefused}
			}
			return a.carryOut(cmd, s, p, false)
		},
	}
	f.addReach(cmd.Flags())
	f.addOptions(cmd.Flags())
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	return cmd
}

// listCures judges, and lists the recipes that the findings name.
func (a *app) listCures(cmd *cobra.Command, f *cureFlags) error {
	f.source.window, f.source.timeout = 10*time.Second, time.Minute
	o, err := a.origin(&f.source)
	if err != nil {
		return err
	}
	defer o.close()
	rep, _ := a.judge(cmd.Context(), o, &f.source, judgement{checks: all()})
	writeCures(a.Stdout, a.name(), rep)
	return nil
}

// A caller is a finding that calls for a cure.
type caller struct {
	report.Also
	cause string // what explains it; empty of a problem
}

// callers lists by recipe the findings that call for it: the problems, then
// what they explain, which may have a cure where its cause has none.
func callers(rep *report.Report) map[string][]caller {
	by := map[string][]caller{}
	add := func(f caller) {
		i := slices.IndexFunc(all(), func(c *checks.Check) bool { return c.ID == f.Check })
		if i < 0 {
			return
		}
		seen := map[string]bool{}
		for _, r := range all()[i].Remedies {
			if r.Recipe != "" && !seen[r.Recipe] {
				by[r.Recipe], seen[r.Recipe] = append(by[r.Recipe], f), true
			}
		}
	}
	for _, p := range rep.Problems {
		add(caller{report.Also{Check: p.Check, Target: p.Target, Status: p.Status, Summary: p.Summary}, ""})
		for _, s := range p.Also {
			add(caller{s, ""})
		}
	}
	for _, p := range rep.Problems {
		for _, s := range p.Symptoms {
			add(caller{report.Also{Check: s.Check, Target: s.Target, Status: s.Status, Summary: s.Summary}, string(p.Check)})
		}
	}
	return by
}

func writeCures(w io.Writer, name string, rep *report.Report) {
	by := callers(rep)
	fmt.Fprintf(w, "status %s: %d problems, of which ktriage has a cure for:\n", rep.Status, len(rep.Problems))
	found := false
	for _, r := range remediate.Recipes {
		for i, p := range by[r.ID] {
			if i == 0 {
				found = true
				fmt.Fprintf(w, "\n  %s fix %s\n    %s\n", name, r.ID, r.Title)
			}
			fmt.Fprintf(w, "    for %s: %s: %q\n", p.Check, p.Target, p.Summary)
			if p.cause != "" {
				fmt.Fprintf(w, "      which %s brings about: see to that first\n", p.cause)
			}
		}
	}
	if !found {
		fmt.Fprintln(w, "  none")
	}
	fmt.Fprintln(w, "\nall recipes:")
	for _, r := range remediate.Recipes {
		fmt.Fprintf(w, "  %-18s %s\n", r.ID, r.Title)
	}
}
