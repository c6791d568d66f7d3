package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/remediate"
)

func (a *app) apply() *cobra.Command {
	var f cureFlags
	var resume bool
	cmd := &cobra.Command{
		Use:   "apply PLAN.json",
		Short: "Carry out a saved plan, one guarded step at a time",
		Long: `Carry out a plan of ktriage plan. Before each step its guards are checked on
fresh facts, and what is not known stops it as what is wrong does. After each
step it waits until the whole cluster is as it must be.

Ctrl-C stops between two steps. A run that was stopped or killed goes on with
--resume: the journal says where. With --dry-run it shows the plan, and tells
whether its next step would be begun now or what refuses it.

Exit codes: 0 all done; 4 refused, nothing was changed; 5 stopped on the way;
64 wrong usage.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{hinted{fmt.Errorf("name one plan, got %d arguments", len(args)), "make one with: " + a.name() + " plan RECIPE -o plan.json"}}
			}
			file, err := os.Open(args[0])
			if err != nil {
				return usageError{hinted{err, "make one with: " + a.name() + " plan RECIPE -o plan.json"}}
			}
			p, err := remediate.Read(file)
			file.Close()
			if err != nil {
				return coded{fmt.Errorf("%s: %w", args[0], err), ExitRefused}
			}
			s, err := a.surgery(&f)
			if err != nil {
				return err
			}
			defer s.close()
			if len(p.Steps) == 0 || f.dryRun {
				show(a.Stdout, p)
			}
			switch {
			case len(p.Steps) == 0:
				return nil
			case f.dryRun:
				return s.rehearse(cmd.Context(), p, resume)
			}
			return a.carryOut(cmd, s, p, resume)
		},
	}
	f.addReach(cmd.Flags())
	cmd.Flags().BoolVar(&resume, "resume", false, "go on with a plan that was begun and not finished")
	return cmd
}

func (a *app) carryOut(cmd *cobra.Command, s *surgery, p *remediate.Plan, resume bool) error {
	if err := s.apply(cmd.Context(), p, resume); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "done: %s, %s\n", p.Recipe, checks.Count(len(p.Steps), "step"))
	return nil
}
