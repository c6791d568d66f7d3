package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/internal/render"
	"github.com/ktriage/ktriage/internal/report"
)

func (a *app) vitals() *cobra.Command {
	var f sourceFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "vitals",
		Short: "Show what each component is doing: rates, latencies, sizes, queues, leaders",
		Long: `Show the control plane's numbers without judging them: requests a second and
their latency, etcd's disk and size, pending pods, queues, who holds the leases.
Exit code 0, or 3 if not one number could be had.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if forms := []string{"text", "json", "yaml"}; !slices.Contains(forms, out.format) {
				return usagef("-o %q: numbers alone are written as one of %s; ktriage doctor writes %s with a verdict", out.format, strings.Join(forms, ", "), out.format)
			}
			o, err := a.origin(&f)
			if err != nil {
				return err
			}
			defer o.close()
			rep, _ := a.judge(cmd.Context(), o, &f, judgement{checks: depth(all(), false)})
			if err := writeVitals(a.Stdout, &out, a, rep); err != nil {
				return err
			}
			if len(rep.Vitals) == 0 {
				return hinted{fmt.Errorf("no number could be had"), "ktriage doctor says why"}
			}
			return nil
		},
	}
	f.add(cmd.Flags(), true)
	out.add(cmd.Flags())
	return cmd
}

func writeVitals(w io.Writer, out *outputFlags, a *app, rep *report.Report) error {
	doc := struct {
		SchemaVersion string         `json:"schemaVersion"`
		Cluster       report.Cluster `json:"cluster"`
		Vitals        any            `json:"vitals"`
	}{rep.SchemaVersion, rep.Cluster, rep.Vitals}
	switch out.format {
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(doc)
	case "yaml":
		b, err := yaml.Marshal(doc)
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	}
	_, err := io.WriteString(w, render.Vitals(rep, out.options(a)))
	return err
}
