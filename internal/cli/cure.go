package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/live"
	"github.com/ktriage/ktriage/internal/term"
	"github.com/ktriage/ktriage/remediate"
	hands "github.com/ktriage/ktriage/remediate/live"
)

// The exit codes of what changes a cluster. What could not be done because
// something is not known is refused too.
const (
	ExitRefused = 4 // nothing was changed
	ExitStopped = 5 // stopped before the end; the journal tells where
)

// cureFlags are those of plan, apply and fix.
type cureFlags struct {
	source   sourceFlags
	stateDir string
	opts     remediate.Options
	yes      bool
	dryRun   bool
}

// text makes a flag of a type that reads and writes text.
type text struct{ d *remediate.Duration }

func (t text) String() string {
	if t.d == nil || *t.d == 0 {
		return ""
	}
	return t.d.String()
}
func (t text) Set(s string) error { return t.d.UnmarshalText([]byte(s)) }
func (text) Type() string         { return "duration" }

func (f *cureFlags) addReach(fs *pflag.FlagSet) {
	f.source.addReach(fs)
	f.source.window, f.source.timeout = 0, lookFor
	hideCredentials(fs)
	fs.StringVar(&f.stateDir, "state-dir", "", "`folder` of journals, locks and snapshots; /var/lib/ktriage for root, else $XDG_STATE_HOME/ktriage or ~/.local/state/ktriage")
	fs.BoolVar(&f.dryRun, "dry-run", false, "show what would be done, and do nothing")
}

// hideCredentials makes of a flag that takes a credential one that refuses it:
// all who are on the machine can read it in the list of processes.
func hideCredentials(fs *pflag.FlagSet) {
	token := fs.Lookup("token")
	token.Value, token.Hidden = refusing{}, true
}

type refusing struct{}

func (refusing) String() string   { return "" }
func (refusing) Type() string     { return "string" }
func (refusing) Set(string) error { return credentialError{} }

type credentialError struct{}

func (credentialError) Error() string {
	return "a token on the command line is in the list of processes, for all to read; keep it in a kubeconfig"
}

func (f *cureFlags) addOptions(fs *pflag.FlagSet) {
	o := &f.opts
	o.Settle, o.SettleLimit = remediate.DefaultSettle, remediate.DefaultSettleLimit
	fs.StringSliceVar(&o.Members, "members", nil, "only these `members`, by name")
	fs.StringVar(&o.Rule, "rule", "", "defragment a member if this CEL `expression` over size, inUse, free, quota, usage, fragmentation, KiB, MiB, GiB is true (default "+remediate.DefaultRule+")")
	fs.StringSliceVar(&o.Objects, "objects", nil, "only these `objects`, as kind/name: validatingwebhookconfiguration/policy")
	fs.Var(text{&o.OlderThan}, "older-than", "events-prune: only Events that last occurred longer ago (default "+remediate.DefaultOlderThan.String()+")")
	fs.StringSliceVar(&o.Namespaces, "namespaces", nil, "events-prune: only Events of these `namespaces`")
	fs.StringSliceVar(&o.Reasons, "reasons", nil, "events-prune: only Events for these `reasons`")
	fs.IntVar(&o.Rate, "rate", 0, fmt.Sprintf("events-prune: how many `deletions` a second at most (default %d)", remediate.DefaultRate))
	fs.StringVar(&o.To, "to", "", "the `member` that is to lead")
	fs.StringVar(&o.File, "file", "", "the `file` to save a snapshot to; by default one in the state folder")
	fs.Var(text{&o.Keep}, "keep", "how much history a compaction leaves (default "+remediate.DefaultKeep.String()+")")
	fs.BoolVar(&o.Aggressive, "aggressive", false, "compact all history: every watch and paged list starts anew")
	fs.StringVar(&o.Window, "window", "", "when a step may begin, in UTC: `01:00-05:00`, or sat,sun 22:00-04:00")
	fs.Var(text{&o.MinInterval}, "min-interval", "leave a member alone that was defragmented more recently")
	fs.Var(text{&o.MaxStall}, "max-stall", "refuse a step in which clients of a member would wait for longer, by estimate")
	fs.Var(text{&o.Settle}, "settle", "the least pause between two members")
	fs.Var(text{&o.SettleLimit}, "settle-timeout", "how long to wait at most until the cluster is whole after a step")
	fs.Var(text{&o.RequireSnapshot}, "require-snapshot", "refuse unless the state folder holds a snapshot that is no older")
	fs.BoolVar(&o.NoSnapshot, "no-snapshot", false, "etcd-nospace: save no snapshot first")
	fs.BoolVar(&o.AllowSmall, "allow-single-member", false, "go on with fewer than three voters: all clients wait meanwhile")
	fs.BoolVar(&o.AllowDown, "allow-down", false, "go on although a voter is down, if a majority remains without one more")
	fs.BoolVar(&o.WithoutKubernetes, "without-kubernetes", false, "go on although the API server does not answer")
}

func recipeNames() string {
	var out []string
	for _, r := range remediate.Recipes {
		out = append(out, r.ID)
	}
	return strings.Join(out, ", ")
}

// recipe returns the recipe that the arguments name.
func recipe(args []string) (*remediate.Recipe, error) {
	if len(args) != 1 {
		return nil, usageError{hinted{fmt.Errorf("name one recipe, got %d arguments", len(args)), "the recipes are " + recipeNames()}}
	}
	r, ok := remediate.Find(args[0])
	if !ok {
		return nil, usageError{hinted{fmt.Errorf("there is no recipe %q", args[0]), "the recipes are " + recipeNames()}}
	}
	return r, nil
}

// A surgery is a live cluster that is looked at anew before each step.
type surgery struct {
	app  *app
	f    *cureFlags
	base *live.Source // keeps how etcd is reached; filled by the first look
	dir  string       // of state
}

// lookFor is how long a look may take: three times what one request may.
const lookFor = remediate.LookFor

func (a *app) surgery(f *cureFlags) (*surgery, error) {
	dir, err := a.stateDir(f.stateDir)
	if err != nil {
		return nil, err
	}
	return &surgery{app: a, f: f, dir: dir}, nil
}

func (a *app) stateDir(given string) (string, error) {
	switch home, state := a.Getenv("HOME"), a.Getenv("XDG_STATE_HOME"); {
	case given != "":
		return filepath.Abs(given)
	case state != "":
		return filepath.Join(state, "ktriage"), nil
	case os.Geteuid() == 0 && (home == "" || home == "/root"):
		return "/var/lib/ktriage", nil
	case home != "":
		return filepath.Join(home, ".local", "state", "ktriage"), nil
	}
	return "", usagef("there is no HOME to keep a journal in; name a folder with --state-dir")
}

func (s *surgery) close() {
	if s.base != nil {
		s.base.Close()
	}
}

// collect looks with a source of its own, so that nothing is remembered from an
// earlier look: neither an answer nor that somebody did not answer.
func (s *surgery) collect(ctx context.Context, facts []collectors.Any) (*collectors.Snapshot, error) {
	return s.collectOver(ctx, s.app.Now(), 0, facts)
}

// collectOver is collect at a given time, over a window.
func (s *surgery) collectOver(ctx context.Context, at time.Time, window time.Duration, facts []collectors.Any) (*collectors.Snapshot, error) {
	o, err := s.app.live(&s.f.source)
	if err != nil {
		return nil, err
	}
	src := o.source.(*live.Source)
	ctx, cancel := context.WithTimeout(ctx, lookFor+window)
	defer cancel()
	c := collectors.Collect(ctx, src, at, window, collectors.Options{}, facts...)
	if s.base != nil {
		s.base.Close()
	}
	s.base = src
	return c.Snapshot, nil
}

// look judges fresh facts.
func (s *surgery) look(ctx context.Context, r *remediate.Recipe, cs []*checks.Check) []checks.Finding {
	snap, err := s.collectOver(ctx, s.app.Now(), r.Window, checks.Facts(cs))
	if err != nil {
		return nil // no verdict is none
	}
	return checks.Run(snap, cs)
}

func (s *surgery) state(ctx context.Context, r *remediate.Recipe) (remediate.State, error) {
	snap, err := s.collect(ctx, r.StateFacts())
	if err != nil {
		return remediate.State{}, err
	}
	return r.ReadState(snap)
}

// plan makes a plan of the cluster as it is.
func (s *surgery) plan(ctx context.Context, r *remediate.Recipe) (*remediate.Plan, error) {
	o := s.f.opts
	if err := o.Check(); err != nil {
		return nil, usageError{err}
	}
	snapshots := filepath.Join(s.dir, "snapshots")
	if o.File == "" && (r == &remediate.SaveSnapshot || r == &remediate.NoSpace) {
		o.File = filepath.Join(snapshots, "etcd-"+s.app.Now().UTC().Format("20060102T150405Z")+".db")
	}
	if o.File != "" {
		file, err := filepath.Abs(o.File)
		if err != nil {
			return nil, usagef("--file: %w", err)
		}
		o.File = file
	}
	if r.Kube {
		o.SaveTo = filepath.Join(s.dir, "saved")
	} else {
		o.SnapshotAt = newest(snapshots)
	}
	now := s.app.Now().UTC()
	snap, err := s.collectOver(ctx, now, r.Window, r.Facts(o, now))
	if err != nil {
		return nil, err
	}
	if !r.Kube {
		if st, err := r.ReadState(snap); err == nil {
			o.Seen = sights(s.dir, st.ClusterID, remediate.Sight{At: s.app.Now().UTC(), Revision: remediate.LastRevision(snap, st)})
		}
	}
	if r != &remediate.CompactHistory {
		o.Seen = nil
	}
	p, err := r.Make(snap, o, "ktriage "+version())
	return p, refused(err)
}

// newest is when the last snapshot in a folder was made; zero if there is none.
func newest(dir string) (at time.Time) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.db"))
	for _, f := range files {
		if st, err := os.Stat(f); err == nil && st.ModTime().After(at) {
			at = st.ModTime().UTC().Truncate(time.Second)
		}
	}
	return at
}

// refused gives a refusal its hint and its exit code.
func refused(err error) error {
	if err == nil {
		return nil
	}
	code, hint := ExitRefused, ""
	var h *remediate.Halt
	var r *remediate.Refusal
	var d *remediate.Denied
	if errors.As(err, &r) {
		hint = r.Hint
	}
	if errors.As(err, &d) && d.Finding.Gap != nil {
		hint = cmp.Or(hint, d.Finding.Gap.Remedy)
	}
	if errors.As(err, &h) && (h.Touched || h.Unsure) {
		code = ExitStopped
	}
	if hint != "" {
		err = hinted{err, hint}
	}
	return coded{err, code}
}

// coded is an error with the exit code that goes with it.
type coded struct {
	error
	code int
}

func (e coded) Unwrap() error { return e.error }

// run is the run of a plan, as far as it changes nothing: it goes on from where
// the plan's journal stands, which is the file of that name.
func (s *surgery) run(p *remediate.Plan, journal string, rs []remediate.Record, resume bool) (*remediate.Run, error) {
	a := s.app
	recipe, ok := remediate.Find(p.Recipe)
	if !ok {
		return nil, coded{fmt.Errorf("there is no recipe %q", p.Recipe), ExitRefused}
	}
	state := func(ctx context.Context) (remediate.State, error) { return s.state(ctx, recipe) }
	look := func(ctx context.Context, cs []*checks.Check) []checks.Finding { return s.look(ctx, recipe, cs) }
	run := &remediate.Run{Plan: p, Look: look, State: state, Clock: hands.Clock{}, Who: a.who(), Say: a.note}
	standing := remediate.Stands(rs)
	switch begun := len(standing.Open) > 0; {
	case standing.Ended:
		return nil, coded{fmt.Errorf("the plan was carried out already, says %s: make a new one", journal), ExitRefused}
	case begun && !resume:
		return nil, coded{hinted{fmt.Errorf("the plan was begun before, says %s", journal), "go on with it: " + a.name() + " apply PLAN --resume"}, ExitRefused}
	case begun:
		run.Resume = &standing
	case resume:
		a.note("the plan was not begun yet")
	}
	return run, nil
}

// rehearse tells whether a plan would be begun, or gone on with, now.
func (s *surgery) rehearse(ctx context.Context, p *remediate.Plan, resume bool) error {
	rs, journal, err := hands.PeekJournal(s.journals(), p.Digest)
	if err != nil {
		return coded{err, ExitRefused}
	}
	run, err := s.run(p, journal, rs, resume)
	if err != nil {
		return err
	}
	switch step, err := run.Rehearse(ctx); {
	case err != nil:
		return refused(err)
	case step == 0:
		s.app.note("dry run: no step is left, and nothing was changed")
	default:
		s.app.note("dry run: step %d of %d would be begun now, and nothing was changed", step, len(p.Steps))
	}
	return nil
}

func (s *surgery) journals() string { return filepath.Join(s.dir, "journal") }

// apply runs a plan, and tells how it went on standard error.
func (s *surgery) apply(ctx context.Context, p *remediate.Plan, resume bool) error {
	a := s.app
	file, err := hands.OpenJournal(s.journals(), p.Digest)
	if err != nil {
		return coded{err, ExitRefused}
	}
	defer file.Close()
	run, err := s.run(p, file.Name(), file.Records, resume)
	if err != nil {
		return err
	}
	records := file.Records
	run.Journal = remediate.NewJournal(file, func(r remediate.Record) {
		records = append(records, r)
		a.tell(r)
	})

	// This look also finds out how etcd is reached. The state is looked at again
	// under the lock, and who answers by each connection.
	if err := run.Admit(ctx); err != nil {
		return refused(err)
	}
	var kube *hands.Kube
	if p.State.Kubernetes {
		if conf, err := s.f.source.kube.ToRESTConfig(); err == nil {
			kube, _ = hands.NewKube(conf, "ktriage/"+version()) // without it, no Lease and no Event
		}
	}
	act := hands.New(hands.Config{State: p.State, Kube: kube, Agent: "ktriage/" + version(), TLS: s.base.EtcdTLS})
	var kubeLock hands.KubeLock
	if kube != nil {
		kubeLock = kube
	}
	who := run.Who
	lock, err := act.Acquire(ctx, s.dir, fmt.Sprintf("%s@%s pid %d, plan %.12s", who.User, who.Host, who.PID, p.Digest), kubeLock)
	if err != nil {
		return coded{err, ExitRefused}
	}
	defer lock.Release()
	a.note("journal %s; locked by %s", file.Name(), lock.Kinds())
	for _, dir := range []string{filepath.Dir(p.Options.File), p.Options.SaveTo} {
		if dir == "" || dir == "." {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return coded{err, ExitRefused}
		}
	}
	run.Do, run.Lock = act, lock
	err = run.Apply(ctx)
	s.leaveEvent(ctx, kube, p, remediate.Account(p, records), err)
	if err != nil {
		err = refused(err)
		var h *remediate.Halt
		if errors.As(err, &h) && (h.Touched || h.Unsure) {
			a.note("%s", s.stands(ctx, p.Recipe))
			err = hinted{err, "when the reason is gone, go on with: " + a.name() + " apply PLAN --resume; or make a new plan, which leaves out what is done"}
		}
		return err
	}
	return nil
}

// stands tells in what state the cluster was left.
func (s *surgery) stands(ctx context.Context, id string) string {
	r, _ := remediate.Find(id) // it was found before
	st, err := s.state(context.WithoutCancel(ctx), r)
	switch {
	case err != nil:
		return "how the cluster is now is not known: " + err.Error()
	case r.Kube:
		return "the cluster now: the API server answers"
	}
	away := "every member answers"
	if len(st.Down) > 0 {
		away = checks.List(st.Down, 5) + " does not answer"
	}
	alarms := "no alarm is raised"
	if len(st.Alarms) > 0 {
		alarms = strings.Join(st.Alarms, ", ") + " is raised"
	}
	return fmt.Sprintf("the cluster now: %s, the leader is %s, %s", away, cmp.Or(st.Leader, "not agreed on"), alarms)
}

// leaveEvent tells Kubernetes who did what, and what was before and is after.
func (s *surgery) leaveEvent(ctx context.Context, kube *hands.Kube, p *remediate.Plan, changed []string, err error) {
	if kube == nil {
		return
	}
	who := s.app.who()
	reason, msg := "Cured", fmt.Sprintf("%s applied %s (plan %.12s) from %s", who.User, p.Recipe, p.Digest, who.Host)
	if err != nil {
		reason, msg = "CureStopped", msg+", which stopped: "+err.Error()
	}
	if len(changed) > 0 {
		msg += ": " + strings.Join(changed, "; ")
	} else {
		msg += ": nothing was changed"
	}
	if e := kube.Record(context.WithoutCancel(ctx), reason, msg, err != nil); e != nil {
		s.app.note("no Event was left: %v", e)
	}
}

func (a *app) who() remediate.Who {
	w := remediate.Who{User: "unknown", Host: "unknown", PID: os.Getpid(), Tool: "ktriage " + version()}
	if u, err := user.Current(); err == nil {
		w.User = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		w.Host = h
	}
	return w
}

// tell shows what the journal just took.
func (a *app) tell(r remediate.Record) {
	if r.Step == 0 || r.Event != remediate.Acted && r.Event != remediate.Done {
		return
	}
	line := fmt.Sprintf("step %d %s", r.Step, map[remediate.Event]string{remediate.Acted: "carried out, waiting for the cluster to be whole", remediate.Done: "done"}[r.Event])
	if r.Event == remediate.Acted && r.Seconds > 0 {
		line += fmt.Sprintf("; it took %s", checks.Seconds(r.Seconds))
	}
	if size := r.After["size"]; size > 0 && r.Kind == remediate.Defragment {
		line += fmt.Sprintf(": the database is %s", checks.Bytes(int64(size)))
	}
	var out []string
	for k, v := range r.Outcome {
		out = append(out, k+" "+v)
	}
	slices.Sort(out)
	if len(out) > 0 {
		line += " (" + strings.Join(out, ", ") + ")"
	}
	a.note("%s", line)
}

// show writes a plan as an operator reads it.
// What is in it may come from a cluster, or from whoever made the file.
func show(w io.Writer, p *remediate.Plan) {
	clean := term.Clean
	if len(p.State.Members) == 0 {
		fmt.Fprintf(w, "%s on the cluster whose kube-system is %s", clean(clean(p.Recipe)), clean(p.State.ClusterID))
	} else {
		fmt.Fprintf(w, "%s on etcd cluster %s: ", clean(clean(p.Recipe)), clean(p.State.ClusterID))
	}
	var names []string
	for _, m := range p.State.Members {
		n := m.Name
		if n == p.State.Leader {
			n += " (leads)"
		}
		names = append(names, n)
	}
	fmt.Fprintf(w, "%s\n", clean(strings.Join(names, ", ")))
	for _, n := range p.Notes {
		fmt.Fprintf(w, "  note: %s\n", clean(n))
	}
	if len(p.Steps) == 0 {
		fmt.Fprintln(w, "nothing to do")
		return
	}
	for i, s := range p.Steps {
		fmt.Fprintf(w, "\n%d. %s\n", i+1, clean(s.Describe()))
		fmt.Fprintf(w, "   why      %s\n", clean(s.Why))
		if s.Effect != "" {
			fmt.Fprintf(w, "   clients  %s\n", clean(s.Effect))
		}
		fmt.Fprintf(w, "   by hand  %s\n", clean(s.Manual))
		fmt.Fprintf(w, "   undo     %s\n", clean(s.Undo))
		var gs []string
		for _, g := range s.Guards {
			gs = append(gs, strings.TrimPrefix(string(g), "cure-"))
		}
		fmt.Fprintf(w, "   guards   %s\n", clean(strings.Join(gs, ", ")))
	}
	fmt.Fprintf(w, "\nplan %.12s of state %.12s, valid until %s\n", p.Digest, p.StateDigest, p.Created.Add(time.Duration(p.ValidFor)).Format(time.RFC3339))
}

// agreed asks whether to go on. An interrupt is a no.
func (a *app) agreed(ctx context.Context) bool {
	fmt.Fprint(a.Stderr, "ktriage: type yes to do this: ")
	answer := make(chan string, 1)
	go func() { // ends with the input, or the program
		line, _ := bufio.NewReader(a.Stdin).ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		return strings.TrimSpace(line) == "yes" && ctx.Err() == nil
	case <-ctx.Done():
		fmt.Fprintln(a.Stderr)
		return false
	}
}

// onLeader reports whether a plan touches the member that leads.
func onLeader(p *remediate.Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s remediate.Step) bool {
		return s.Action.Kind == remediate.MoveLeader || s.Action.Kind == remediate.Defragment && s.Action.Target.Name == p.State.Leader
	})
}
