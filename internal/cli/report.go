package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/deliver"
	sender "github.com/ktriage/ktriage/internal/deliver/live"
	"github.com/ktriage/ktriage/internal/diff"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/runs"
	writer "github.com/ktriage/ktriage/remediate/live"
)

// deliverFlags say where a report goes.
type deliverFlags struct {
	dir         string
	keep        int
	configMap   string
	events      bool
	webhook     string
	always      bool
	openReports bool
	baseline    string

	namespace, name string // of the ConfigMap
	hook            *sender.Webhook
}

func (f *deliverFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.dir, "dir", "", "keep the reports in this `folder`: JSON, HTML and metrics of each run, the latest, and a page over time")
	fs.IntVar(&f.keep, "keep", 100, "with --dir: how many runs to keep")
	fs.StringVar(&f.configMap, "to-configmap", "", "write the report to this ConfigMap, as `NAMESPACE/NAME`")
	fs.BoolVar(&f.events, "events", false, "leave a Kubernetes Event in kube-system for each problem that the run before did not tell")
	fs.StringVar(&f.webhook, "webhook", "", "send what has changed to this `URL`; better KTRIAGE_WEBHOOK_URL, as others see a command line")
	fs.BoolVar(&f.always, "webhook-always", false, "send it too if nothing has changed")
	fs.BoolVar(&f.openReports, "openreports", false, "write a ClusterReport of openreports.io, or a ClusterPolicyReport of wgpolicyk8s.io, whichever is installed")
	fs.StringVar(&f.baseline, "baseline", "", "what to compare with where nothing is kept: an earlier report, a `FILE` of -o json")
}

// check refuses what makes no sense, before anything is asked.
func (f *deliverFlags) check(a *app) error {
	var name string
	if f.webhook == "" {
		f.webhook, name = a.Getenv("KTRIAGE_WEBHOOK_URL"), "KTRIAGE_WEBHOOK_URL"
	} else {
		name = "--webhook"
	}
	if f.webhook != "" {
		u, err := url.Parse(f.webhook)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			return usagef("%s is no URL such as https://HOST/PATH", name) // what it is may be a secret
		}
		f.hook = &sender.Webhook{URL: u, Authorization: a.Getenv("KTRIAGE_WEBHOOK_AUTHORIZATION"), Agent: "ktriage/" + version()}
	}
	if err := f.checkConfigMap(); err != nil {
		return err
	}
	switch {
	case f.keep < 1:
		return usagef("--keep must be at least 1, got %d", f.keep)
	case f.dir == "" && f.configMap == "" && !f.events && f.hook == nil && !f.openReports:
		return usageError{hinted{usagef("report wants to know where to: --dir, --to-configmap, --events, --webhook or --openreports"), "to see a report here: " + a.name() + " doctor"}}
	case f.events && f.dir == "" && f.configMap == "" && f.baseline == "":
		return usageError{hinted{usagef("--events are for what is new, and nothing is kept to compare with"), "add --dir, --to-configmap or --baseline"}}
	}
	return nil
}

func (f *deliverFlags) checkConfigMap() error {
	if f.configMap == "" {
		return nil
	}
	var ok bool
	if f.namespace, f.name, ok = strings.Cut(f.configMap, "/"); !ok || f.namespace == "" || f.name == "" || strings.Contains(f.name, "/") {
		return usagef("--to-configmap %q: want NAMESPACE/NAME", f.configMap)
	}
	return nil
}

// ExitNotDelivered is of a report that was made, and did not get everywhere.
const ExitNotDelivered = 5

func (a *app) report() *cobra.Command {
	var f sourceFlags
	var to deliverFlags
	var sel selectFlags
	var failOn string
	var deep bool
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Judge the control plane and keep, publish or send the report, for cron",
		Long: `Judge the control plane as ktriage doctor does, and write the report to where the
flags say. Nothing is written without one of them, and nothing but the report:
files in --dir; a ConfigMap; Events in kube-system; one custom resource; one
request to a webhook. ktriage permissions with the same flags tells the rights.

What is new is told against the report before: the latest in --dir, else that in
the ConfigMap, else --baseline.

Exit codes: 0 the report was made, and is everywhere; 5 it was made, and did not
get everywhere; 64 wrong usage. With --fail-on, those of doctor too, and 5 before
them.`,
		Example: `  ktriage report --dir /var/lib/ktriage --keep 200
  ktriage report --to-configmap ktriage/report --events
  KTRIAGE_WEBHOOK_URL=https://… ktriage report --dir /var/lib/ktriage`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			bar, err := parseFailOn(failOn)
			if err != nil {
				return err
			}
			if err := to.check(a); err != nil {
				return err
			}
			chosen, err := a.named(&sel)
			if err != nil {
				return err
			}
			d, err := a.delivery(cmd.Context(), &f, &to)
			if err != nil {
				return err
			}
			defer d.close()
			o, err := a.origin(&f)
			if err != nil {
				return err
			}
			defer o.close()
			rep, _ := a.judge(cmd.Context(), o, &f, judgement{checks: depth(chosen, deep || o.deep, sel.only...)})
			// A run that is stopped says so in its report, which is delivered all the
			// same.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), maxDelivery)
			defer cancel()
			if !d.deliver(ctx, rep) {
				return exitCode(ExitNotDelivered)
			}
			return exitFor(rep.Status, bar)
		},
	}
	f.add(cmd.Flags(), true)
	f.addLogs(cmd.Flags(), false)
	to.add(cmd.Flags())
	sel.add(cmd.Flags())
	cmd.Flags().StringVar(&failOn, "fail-on", "never", "the least that makes the exit code that of doctor: warning, unknown, critical or never")
	cmd.Flags().BoolVar(&deep, "deep", false, deepUsage)
	return cmd
}

// maxDelivery is how long delivering may take, all in all.
const maxDelivery = 2 * time.Minute

// A delivery is where the report of a run goes, and what it is compared with.
type delivery struct {
	app    *app
	to     *deliverFlags
	folder *runs.Folder // may be nil
	kube   *writer.Kube // may be nil
	held   *corev1.ConfigMap
	before *report.Report // may be nil
	failed bool
}

// delivery opens where the report goes, before the run: who cannot write has not
// to ask. What is in a ConfigMap is read then too; that it cannot be is no reason
// for no report.
func (a *app) delivery(ctx context.Context, f *sourceFlags, to *deliverFlags) (*delivery, error) {
	d := &delivery{app: a, to: to}
	if to.baseline != "" {
		var err error
		if d.before, err = a.saved("--baseline", to.baseline); err != nil {
			return nil, err
		}
	}
	if to.configMap != "" || to.events || to.openReports {
		conf, err := f.kube.ToRESTConfig()
		if err != nil {
			return nil, hinted{fmt.Errorf("the cluster to write to: %w", err), "a kubeconfig is needed for --to-configmap, --events and --openreports"}
		}
		if d.kube, err = writer.NewKube(conf, "ktriage/"+version()); err != nil {
			return nil, err
		}
	}
	if to.configMap != "" {
		kept, err := d.readConfigMap(ctx)
		switch {
		case errors.Is(err, deliver.ErrForeign):
			return nil, usageError{hinted{fmt.Errorf("--to-configmap %s: %w", to.configMap, err), "name another, or delete it"}}
		case err != nil:
			a.note("%v", err)
		case kept != nil:
			d.before = kept
		}
	}
	if to.dir != "" {
		folder, err := runs.Open(to.dir)
		if err != nil {
			return nil, fmt.Errorf("--dir: %w", err)
		}
		d.folder = folder
		latest, skipped, err := folder.Latest()
		if err != nil {
			folder.Close()
			return nil, fmt.Errorf("--dir: %w", err)
		}
		for _, err := range skipped {
			a.note("an earlier run cannot be read, and is passed over: %v", err)
		}
		if latest != nil {
			d.before = latest
		}
	}
	return d, nil
}

func (d *delivery) close() {
	if d.folder != nil {
		d.folder.Close()
	}
}

func (d *delivery) readConfigMap(ctx context.Context) (*report.Report, error) {
	held, err := d.kube.ConfigMap(ctx, d.to.namespace, d.to.name)
	if err != nil {
		return nil, err
	}
	d.held = held
	kept, err := deliver.Kept(held)
	if errors.Is(err, deliver.ErrForeign) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("what configmap %s holds cannot be read, and is replaced: %w", d.to.configMap, err)
	}
	return kept, nil
}

// lost tells that the report did not get somewhere.
func (d *delivery) lost(err error) {
	d.failed = true
	d.app.note("not delivered: %v", err)
	if strings.Contains(err.Error(), " 403:") {
		d.app.note("hint: the rights for it: %s permissions%s", d.app.name(), d.to.words())
	}
}

// words are the flags of permissions for what is written to a cluster.
func (f *deliverFlags) words() string {
	out := ""
	if f.configMap != "" {
		out += " --to-configmap " + f.configMap
	}
	if f.events {
		out += " --events"
	}
	if f.openReports {
		out += " --openreports"
	}
	return out
}

// deliver takes a report to all places, and tells on standard output where it
// is. That one fails keeps it from no other.
func (d *delivery) deliver(ctx context.Context, rep *report.Report) bool {
	a, news := d.app, deliver.Of(rep, d.before)
	line := fmt.Sprintf("%s: %s, %d new", rep.Status, checks.Count(len(rep.Problems), "problem"), len(news))
	if d.before != nil {
		if differs := diff.Compare(d.before, rep).Differs; differs != "" {
			a.note("compared with the report before: %s", differs)
		}
	}
	if d.folder != nil {
		file, err := d.folder.Add(rep, d.to.keep, a.Now())
		if err != nil {
			d.lost(fmt.Errorf("--dir: %w", err))
		} else {
			line += "; " + file
		}
	}
	if d.to.configMap != "" {
		if err := d.putConfigMap(ctx, rep); err != nil {
			d.lost(err)
		} else {
			line += "; configmap " + d.to.configMap
		}
	}
	if d.to.events {
		left := 0
		for _, e := range deliver.Events(news, a.Now()) {
			if err := d.kube.LeaveEvent(ctx, e); err != nil {
				d.lost(err)
				break // the next would fare no better
			}
			left++
		}
		line += "; " + checks.Count(left, "event")
	}
	if d.to.openReports {
		if where, err := d.putReport(ctx, rep); err != nil {
			d.lost(err)
		} else {
			line += "; " + where
		}
	}
	if d.to.hook != nil {
		switch p := deliver.ForWebhook(rep, d.before); {
		case !d.to.always && !p.Changed():
			line += "; nothing to tell the webhook"
		default:
			if err := d.to.hook.Send(ctx, p); err != nil {
				d.lost(err)
			} else {
				line += "; webhook at " + d.to.hook.Place()
			}
		}
	}
	fmt.Fprintln(a.Stdout, line)
	return !d.failed
}

// putConfigMap writes the ConfigMap. Of two runs at a time the later stays.
func (d *delivery) putConfigMap(ctx context.Context, rep *report.Report) error {
	for n := 0; ; n++ {
		m, err := deliver.ConfigMap(d.held, d.to.namespace, d.to.name, rep)
		if err != nil {
			return err
		}
		if err = d.kube.PutConfigMap(ctx, m); !errors.Is(err, writer.ErrConflict) || n == 2 {
			return err
		}
		kept, err := d.readConfigMap(ctx)
		if err != nil && d.held == nil || errors.Is(err, deliver.ErrForeign) {
			return err
		}
		if !deliver.Older(kept, rep) {
			return nil // a later run was quicker
		}
	}
}

func (d *delivery) putReport(ctx context.Context, rep *report.Report) (string, error) {
	for _, api := range deliver.ReportAPIs {
		is, err := d.kube.Serves(ctx, api.Group, api.Version, api.Resource)
		if err != nil {
			return "", err
		}
		if is {
			return api.Resource + "." + api.Group, d.kube.Apply(ctx, api.Group, api.Version, api.Resource, deliver.ReportName, deliver.ForReports(api, rep))
		}
	}
	return "", errors.New("--openreports: the cluster has neither clusterreports of openreports.io/v1alpha1 nor clusterpolicyreports of wgpolicyk8s.io/v1alpha2; install the custom resources of OpenReports, or leave the flag out")
}
