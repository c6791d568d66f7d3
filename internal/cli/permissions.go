package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/rights"
	"github.com/ktriage/ktriage/internal/certs"
	"github.com/ktriage/ktriage/internal/deliver"
	"github.com/ktriage/ktriage/internal/pending"
	"github.com/ktriage/ktriage/internal/permissions"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
	"github.com/ktriage/ktriage/internal/vitals"
	writer "github.com/ktriage/ktriage/remediate/live"
)

func (a *app) permissions() *cobra.Command {
	var f sourceFlags
	var sel selectFlags
	var check bool
	var format, subject string
	var namespaces []string
	var to deliverFlags
	var cures bool
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "Print the role that a run needs, or check whether you have its rights",
		Long: `Print the ClusterRole, and the Roles in those namespaces where that suffices,
with which ktriage sees everything: no more than what its checks ask for. Without
some of it a run still works, and each thing that it could not see is named with
the right that would show it. All of it reads, but what the flags of ktriage report
add: with them, the role may write what they say.

With --check the cluster is asked which of the rights the kubeconfig's user has
(SelfSubjectAccessReview: a request that is created, answered and kept by nobody).
Exit code 0, or 3 if one is missing or could not be asked for.`,
		Example: `  ktriage permissions --for serviceaccount:monitoring/ktriage | kubectl apply -f -
  ktriage permissions --only etcd,'webhook-*'
  ktriage permissions --check --as system:serviceaccount:monitoring:ktriage`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			chosen, err := a.named(&sel)
			if err != nil {
				return err
			}
			who, err := parseSubject(subject)
			if err != nil {
				return err
			}
			if err := to.checkConfigMap(); err != nil {
				return err
			}
			needs := slices.Concat(needsOf(chosen, namespaces...), to.writing(cures).Needs())
			switch {
			case !check && format != "yaml":
				return usagef("-o %q: a role is written as yaml", format)
			case !check:
				_, err := fmt.Fprint(a.Stdout, permissions.YAML(needs, who))
				return err
			case subject != "":
				return usagef("--check asks about the kubeconfig's user; for another use --as in place of --for")
			case format != "yaml" && format != "json":
				return usagef("-o %q: want json, or nothing", format)
			}
			return a.checkRights(cmd, &f, needs, format == "json")
		},
	}
	f.add(cmd.Flags(), false)
	sel.add(cmd.Flags())
	cmd.Flags().BoolVar(&check, "check", false, "ask the cluster which of the rights you have")
	cmd.Flags().StringVar(&subject, "for", "", "also bind the roles to `subject`: serviceaccount:NAMESPACE/NAME, user:NAME or group:NAME")
	cmd.Flags().StringSliceVar(&namespaces, "webhook-namespaces", nil, "the `namespaces` that webhooks and extension API servers are in; else rights about them are for all")
	cmd.Flags().StringVar(&to.configMap, "to-configmap", "", "also the rights of ktriage report with this flag, `NAMESPACE/NAME`")
	cmd.Flags().BoolVar(&to.events, "events", false, "also the rights of ktriage report with this flag")
	cmd.Flags().BoolVar(&to.openReports, "openreports", false, "also the rights of ktriage report with this flag")
	cmd.Flags().BoolVar(&cures, "cures", false, "also the rights of the cures about etcd: a lock, and Events about what was done")
	cmd.Flags().StringVarP(&format, "output", "o", "yaml", "form of the role: yaml; of --check: json, else a list")
	return cmd
}

// writing is what the flags write to a cluster.
func (f *deliverFlags) writing(cures bool) permissions.Writing {
	w := permissions.Writing{Namespace: f.namespace, Name: f.name, Events: f.events, ReportName: deliver.ReportName, Cures: cures, Lease: writer.LeaseName}
	if f.openReports {
		for _, api := range deliver.ReportAPIs {
			w.Reports = append(w.Reports, permissions.Resource{Group: api.Group, Name: api.Resource})
		}
	}
	return w
}

// needsOf is what the checks need, and what every run reads besides.
func needsOf(chosen []*checks.Check, namespaces ...string) []permissions.Need {
	var users []permissions.User
	for _, c := range chosen {
		users = append(users, permissions.User{Name: string(c.ID), Facts: c.Needs})
	}
	users = append(users,
		permissions.User{Name: "every report", Facts: report.Facts},
		permissions.User{Name: "ktriage vitals", Facts: vitals.Facts()})
	if len(chosen) >= len(all()) { // who chose some wants no more than these
		users = append(users, permissions.User{Name: "ktriage certs", Facts: certs.Facts()},
			permissions.User{Name: "ktriage pending", Facts: slices.Concat(pending.Facts(), pending.SchedulerFacts())})
	}
	return permissions.Of(users, namespaces...)
}

func parseSubject(s string) (*permissions.Subject, error) {
	if s == "" {
		return nil, nil
	}
	kind, name, ok := strings.Cut(s, ":")
	switch kind = strings.ToLower(kind); {
	case !ok || name == "":
	case kind == "user":
		return &permissions.Subject{Kind: "User", Name: name}, nil
	case kind == "group":
		return &permissions.Subject{Kind: "Group", Name: name}, nil
	case kind == "serviceaccount":
		if ns, name, ok := strings.Cut(name, "/"); ok && ns != "" && name != "" {
			return &permissions.Subject{Kind: "ServiceAccount", Namespace: ns, Name: name}, nil
		}
	}
	return nil, usagef("--for %q: want serviceaccount:NAMESPACE/NAME, user:NAME or group:NAME", s)
}

// An allowance is what the cluster says of one right.
type allowance struct {
	Right   string          `json:"right"`
	Allowed *bool           `json:"allowed"` // null if it could not be asked for
	Needed  []string        `json:"neededBy"`
	Gap     *collectors.Gap `json:"gap,omitempty"`
}

func (a *app) checkRights(cmd *cobra.Command, f *sourceFlags, needs []permissions.Need, asJSON bool) error {
	o, err := a.origin(f)
	if err != nil {
		return err
	}
	defer o.close()
	ctx, cancel := deadline(cmd.Context(), f)
	defer cancel()
	fact := reviews(needs)
	snap := collectors.Collect(ctx, o.source, a.Now(), 0, collectors.Options{}, fact).Snapshot
	var out []allowance
	missing, unknown := 0, 0
	for i, n := range needs {
		x := allowance{Right: n.String(), Needed: n.By}
		allowed, gap := fact.Of(snap, reviewTarget(i))
		switch {
		case gap != nil:
			x.Gap = gap
			unknown++
		default:
			x.Allowed = &allowed
			if !allowed {
				missing++
			}
		}
		out = append(out, x)
	}
	if asJSON {
		e := json.NewEncoder(a.Stdout)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		if err := e.Encode(struct {
			Rights []allowance `json:"rights"`
		}{out}); err != nil {
			return err
		}
	} else {
		listAllowances(a, out)
	}
	if missing+unknown == 0 {
		return nil
	}
	a.note("%d of %d rights are missing, %d could not be asked for", missing, len(needs), unknown)
	a.note("hint: who may grant them: ktriage permissions --for KIND:NAME | kubectl apply -f -")
	return exitCode(ExitUnknown)
}

func listAllowances(a *app, out []allowance) {
	said := map[string]bool{}
	for _, x := range out {
		switch {
		case x.Gap != nil:
			fmt.Fprintf(a.Stdout, "unknown  %s\n", x.Right)
			if text := term.Clean(x.Gap.Error()); !said[text] {
				said[text] = true
				fmt.Fprintf(a.Stdout, "         %s\n", text)
			}
		case *x.Allowed:
			fmt.Fprintf(a.Stdout, "yes      %s\n", x.Right)
		default:
			fmt.Fprintf(a.Stdout, "NO       %s: asked for by %s\n", x.Right, checks.List(x.Needed, 3))
		}
	}
}

func reviewTarget(i int) collectors.Target {
	return collectors.Target{Component: collectors.Cluster, Name: fmt.Sprintf("%04d", i), Addr: "kube:"}
}

// reviews is the fact of which rights the user has.
func reviews(needs []permissions.Need) *collectors.Fact[bool] {
	return &collectors.Fact[bool]{
		ID: "cluster.rights", Doc: "which rights the user of this run has",
		Targets: func(*collectors.Snapshot) ([]collectors.Target, error) {
			var out []collectors.Target
			for i := range needs {
				out = append(out, reviewTarget(i))
			}
			return out, nil
		},
		Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
			var i int
			fmt.Sscan(strings.TrimLeft(t.Name, "0")+" ", &i)
			return []collectors.Request{{Verb: collectors.Review, URL: "kube:/?" + question(needs[i].Right).Encode()}}
		},
		Read: func(rs []collectors.Answered) (bool, error) {
			var r struct {
				Status *struct{ Allowed bool }
			}
			if err := json.Unmarshal(rs[0].Body, &r); err != nil {
				return false, fmt.Errorf("the reply is no review: %w", err)
			}
			if r.Status == nil {
				return false, collectors.Gapf(collectors.Malformed, "the reply says neither yes nor no")
			}
			return r.Status.Allowed, nil
		},
	}
}

func question(r rights.Right) url.Values {
	q := url.Values{"verb": {r.Verb}}
	if r.Path != "" {
		q.Set("path", r.Path)
		return q
	}
	name, sub, _ := strings.Cut(r.Resource, "/")
	q.Set("resource", name)
	for k, v := range map[string]string{"group": r.Group, "subresource": sub, "namespace": r.Namespace, "name": r.Name} {
		if v != "" {
			q.Set(k, v)
		}
	}
	return q
}

// permissionsDoc is docs/permissions.md.
func permissionsDoc() []byte {
	var b strings.Builder
	b.WriteString(generatedNote + "# Permissions\n\nWhat ktriage reads, and who needs it. It is derived from the requests that the checks make; `ktriage permissions` prints\n" +
		"it as roles for `kubectl apply`, `--only` for some checks, and `ktriage permissions --check` tells which of them you have. For that it\n" +
		"creates SelfSubjectAccessReviews, which everybody may: the API server answers them and keeps none. So it does of the SubjectAccessReviews by which `kcm-client-errors` asks whether the scheduler and\n" +
		"the controllers may do their work; a run without that right says all the same, and not why. Nothing else is created.\n\n" +
		"A run with fewer rights names what it could not see, and the right that would show it. `pods/portforward` outside of kube-system\n" +
		"is for the certificates of webhooks and extension API servers alone: name their namespaces with `--webhook-namespaces`, and the\n" +
		"roles are for those only.\n\n" +
		"| right | needed by |\n|---|---|\n")
	for _, n := range needsOf(all()) {
		by := slices.Clone(n.By)
		fmt.Fprintf(&b, "| %s | %s |\n", n.Right, strings.Join(by, ", "))
	}
	b.WriteString("\n## To write reports\n\nThese are for the flags of `ktriage report` and for cures about etcd, and in no role unless `ktriage permissions` is given the\n" +
		"same flag (`--cures` for cures). The ConfigMap is that which the flag names.\n\n| right | needed by |\n|---|---|\n")
	w := deliverFlags{events: true, openReports: true, namespace: "NAMESPACE", name: "NAME"}
	for _, n := range w.writing(true).Needs() {
		fmt.Fprintf(&b, "| %s | %s |\n", n.Right, strings.Join(n.By, ", "))
	}
	b.WriteString("\n## The roles\n\n```yaml\n" + permissions.YAML(needsOf(all()), nil) + "```\n")
	return []byte(b.String())
}
