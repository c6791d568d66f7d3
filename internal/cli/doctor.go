package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/diff"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
)

func (a *app) doctor() *cobra.Command {
	var f sourceFlags
	var out outputFlags
	var sel selectFlags
	var many fleetFlags
	var nf nodeFlags
	var failOn, record, baseline string
	var deep bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Judge the control plane: what is wrong, why, and what to do",
		Long: `Look at the control plane for the time of --window and tell what is wrong with
it, the cause first, with the evidence and the next command to run. What could
not be seen is said, with what would mend it; it is never called healthy.

Exit codes: 0 ok, 1 warning, 2 critical, 3 something could not be judged,
64 wrong usage. The worst wins: critical, unknown, warning, ok.`,
		Example: `  ktriage doctor
  ktriage doctor --context prod -o json
  ktriage doctor --contexts 'prod-*' --summary
  ktriage doctor --etcd-endpoints https://10.0.0.1:2379 --etcd-cacert ca.crt --etcd-cert client.crt --etcd-key client.key
  ktriage doctor --node
  ktriage doctor --from incident.tar.gz
  ktriage doctor --from must-gather.tar.gz --from etcd.log
  ktriage doctor --from monday.tar.gz --from tuesday.tar.gz`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			bar, err := parseFailOn(failOn)
			if err != nil {
				return err
			}
			if err := out.check(); err != nil {
				return err
			}
			chosen, err := a.chosen(&sel)
			if err != nil {
				return err
			}
			if many.asked() {
				return a.fleet(cmd.Context(), cmd.Flags(), &many, &out, bar)
			}
			var before *report.Report
			if baseline != "" {
				if before, err = a.saved("--baseline", baseline); err != nil {
					return err
				}
			}
			if err := nf.check(&f); err != nil {
				return err
			}
			o, err := a.origin(&f)
			if err != nil {
				return err
			}
			defer func() { o.close() }()
			if nf.on || a.chooses(cmd.Context(), &nf, &f, o) {
				o.close()
				if o, err = a.local(&nf); err != nil {
					return err
				}
			}
			j := judgement{checks: depth(chosen, deep || o.deep, sel.only...)}
			var rep *report.Report
			if record == "" {
				rep, _ = a.judge(cmd.Context(), o, &f, j)
			} else if rep, err = a.recorded(cmd.Context(), o, &f, j, record, usually()); err != nil {
				return err
			}
			verdict := rep.Status
			switch {
			case before != nil:
				rep.Changes = diff.Compare(before, rep)
				verdict = rep.Changes.Status
			case o.before != nil: // the exit code is about the later of two times
				then, _ := a.judge(cmd.Context(), o.before, &f, judgement{checks: j.checks})
				rep.Changes = diff.Compare(then, rep)
			}
			if err := out.write(a, rep); err != nil {
				return err
			}
			return exitFor(verdict, bar)
		},
	}
	f.add(cmd.Flags(), true)
	f.addLogs(cmd.Flags(), false)
	nf.add(cmd.Flags())
	out.add(cmd.Flags())
	sel.add(cmd.Flags())
	many.add(cmd.Flags())
	cmd.Flags().StringVar(&failOn, "fail-on", "warning", "the least that makes the exit code other than 0: warning, unknown, critical or never")
	cmd.Flags().StringVar(&record, "record", "", "also write a recording of this very run to `FILE`.tar.gz")
	cmd.Flags().StringVar(&baseline, "baseline", "", "an earlier report, a `FILE` of -o json: also tell what has changed since; the exit code is about that alone")
	cmd.Flags().BoolVar(&deep, "deep", false, deepUsage)
	return cmd
}

// deepUsage tells what is looked at on demand only, and what it costs.
const deepUsage = "also compare what etcd's members hold, by a hash: each reads all of its database once, so that it is busy for seconds per GiB"

// bars are the values of --fail-on with the least severity that passes them on.
var bars = map[string]int{
	"warning":  checks.Warning.Severity(),
	"unknown":  checks.Unknown.Severity(),
	"critical": checks.Critical.Severity(),
	"never":    checks.Critical.Severity() + 1,
}

func parseFailOn(s string) (int, error) {
	bar, ok := bars[s]
	if !ok {
		names := []string{"warning", "unknown", "critical", "never"}
		slices.Sort(names)
		return 0, usagef("--fail-on %q: want one of %s", s, strings.Join(names, ", "))
	}
	return bar, nil
}

// exitFor turns a report's status into the program's end.
func exitFor(s checks.Status, bar int) error {
	if s.Severity() < bar {
		return nil
	}
	switch s {
	case checks.Critical:
		return exitCode(ExitCritical)
	case checks.Unknown:
		return exitCode(ExitUnknown)
	case checks.Warning:
		return exitCode(ExitWarning)
	}
	return nil
}

// note writes a line for the user to standard error. What is in it may come from
// a cluster, or from a file that somebody else made.
func (a *app) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if a.calls != nil {
		text = a.calls(text)
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = term.Clean(lines[i])
	}
	fmt.Fprintf(a.Stderr, "ktriage: %s\n", strings.Join(lines, "\n"))
}
