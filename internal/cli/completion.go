package cli

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/remediate"
)

// completing bounds what is asked of a cluster while somebody waits for a Tab;
// mostNames is how many names are taken of it.
const (
	completing = 2 * time.Second
	mostNames  = "250"
)

// plugin is what kubectl runs for the completion of a plugin: the program itself,
// by this name.
const plugin = "kubectl_complete-ktriage"

// completes gives the commands below root what a shell can propose.
func (a *app) completes(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		a.completes(cmd)
	}
	words := func(ws ...string) cobra.CompletionFunc {
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return ws, cobra.ShellCompDirectiveNoFileComp
		}
	}
	root.CompletionOptions.HiddenDefaultCmd = a.name() != "ktriage" // kubectl completes its plugins
	for name, f := range map[string]cobra.CompletionFunc{
		"context":    a.completeContexts,
		"namespace":  a.completeNamespaces,
		"namespaces": a.completeNamespaces,
		"only":       a.completeChecks,
		"fail-on":    words("warning", "unknown", "critical", "never"),
		"color":      words("auto", "always", "never"),
	} {
		if root.Flags().Lookup(name) != nil {
			_ = root.RegisterFlagCompletionFunc(name, f) // it fails only where there is one already
		}
	}
	if f := root.Flags().Lookup("output"); f != nil {
		if _, forms, ok := strings.Cut(f.Usage, ": "); ok {
			_ = root.RegisterFlagCompletionFunc("output", words(strings.Split(forms, ", ")...))
		}
	}
	switch root.Name() {
	case "fix", "plan":
		root.ValidArgsFunction = first(func(*cobra.Command, string) []string {
			var out []string
			for _, r := range remediate.Recipes {
				out = append(out, r.ID)
			}
			return out
		})
	case "explain":
		root.ValidArgsFunction = first(func(cmd *cobra.Command, _ string) []string {
			_ = a.configure(cmd) // without it, those that there are anyway
			var out []string
			for _, c := range a.rules() {
				out = append(out, string(c.ID)+"\t"+c.Title)
			}
			return out
		})
	case "pending":
		root.ValidArgsFunction = first(a.pendingPods)
	case "doctor", "vitals", "certs", "permissions", "checks", "version", "view", "status", "perf", "top":
		root.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// first completes the first argument alone.
func first(names func(*cobra.Command, string) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return beginning(names(cmd, word), word), cobra.ShellCompDirectiveNoFileComp
	}
}

// beginning keeps the words that begin as what was typed does. Shells that cobra
// knows do so themselves; who calls a plugin's completion otherwise may not.
func beginning(words []string, typed string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, typed) })
}

func (a *app) completeChecks(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	var out, components []string
	for _, c := range a.rules() {
		out = append(out, string(c.ID)+"\t"+c.Title)
		if x := string(c.Component) + "\tall checks of it"; !slices.Contains(components, x) {
			components = append(components, x)
		}
	}
	// Of a list, what stands behind its last comma is being typed.
	before := word[:strings.LastIndex(word, ",")+1]
	all := append(components, out...)
	for i := range all {
		all[i] = before + all[i]
	}
	return beginning(all, word), cobra.ShellCompDirectiveNoFileComp
}

// completeContexts asks nobody: the kubeconfig names them.
func (a *app) completeContexts(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	path := ""
	if f := cmd.Flags().Lookup("kubeconfig"); f != nil {
		path = f.Value.String()
	}
	return contexts(path).names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeNamespaces(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, m := range a.ask(cmd, "kube:/api/v1/namespaces?limit="+mostNames) {
		out = append(out, m.Name)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// pendingPods are the pods that pending is about: NAME with -n, else NAMESPACE/NAME.
func (a *app) pendingPods(cmd *cobra.Command, word string) []string {
	namespace := cmd.Flags().Lookup("namespace").Value.String()
	ns, _, qualified := strings.Cut(word, "/")
	path := "kube:/api/v1/pods"
	switch {
	case namespace != "":
		path = "kube:/api/v1/namespaces/" + url.PathEscape(namespace) + "/pods"
	case qualified:
		path = "kube:/api/v1/namespaces/" + url.PathEscape(ns) + "/pods"
	}
	var out []string
	for _, m := range a.ask(cmd, path+"?fieldSelector=status.phase%3DPending&limit="+mostNames) {
		name := m.Name
		if namespace == "" {
			name = m.Namespace + "/" + m.Name
		}
		out = append(out, name)
	}
	return out
}

type named struct{ Name, Namespace string }

// ask makes one request to the cluster that the command line is about. Where there
// is no answer in time, there is nothing to propose.
func (a *app) ask(cmd *cobra.Command, path string) []named {
	if from := cmd.Flags().Lookup("from"); from != nil && from.Changed {
		return nil // a recording is read by who asks for it
	}
	if err := a.configure(cmd); err != nil {
		return nil
	}
	var f sourceFlags
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.add(own, false)
	own.VisitAll(func(x *pflag.Flag) {
		if said := cmd.Flags().Lookup(x.Name); said != nil && said.Value.String() != x.DefValue && said.Value.Type() == "string" {
			_ = x.Value.Set(said.Value.String())
		}
	})
	short := completing.String()
	f.kube.Timeout = &short
	o, err := a.live(&f)
	if err != nil {
		return nil
	}
	defer o.close()
	ctx, cancel := context.WithTimeout(cmd.Context(), completing)
	defer cancel()
	reply, err := o.source.Fetch(ctx, collectors.Request{Verb: collectors.Get, URL: path})
	if err != nil {
		return nil
	}
	defer reply.Body.Close()
	var list struct{ Items []struct{ Metadata named } }
	if json.NewDecoder(io.LimitReader(reply.Body, 16<<20)).Decode(&list) != nil {
		return nil
	}
	var out []named
	for _, x := range list.Items {
		out = append(out, x.Metadata)
	}
	return out
}

// rename writes the name that the user calls the program by into the texts of
// all commands.
func (a *app) rename(root *cobra.Command) {
	if a.name() == "ktriage" {
		return
	}
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	calls := regexp.MustCompile(`(^|[^\w/.-])ktriage (` + strings.Join(names, "|") + `)\b`)
	a.calls = func(s string) string { return calls.ReplaceAllString(s, "${1}"+a.name()+" ${2}") }
	var all func(*cobra.Command)
	all = func(cmd *cobra.Command) {
		cmd.Long, cmd.Short, cmd.Example = a.calls(cmd.Long), a.calls(cmd.Short), a.calls(cmd.Example)
		cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = a.calls(f.Usage) })
		for _, c := range cmd.Commands() {
			all(c)
		}
	}
	all(root)
}
