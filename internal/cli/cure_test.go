package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const fragmented = "fragmentation > 0.3"

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// TestDefragGoesRoundTheCluster is the whole way: a plan, its refusals, its
// journal, and that it is not done twice.
func TestDefragGoesRoundTheCluster(t *testing.T) {
	p := newEtcdCluster(t, 3, 0).patient()
	p.fragment(16)
	leader, followers := p.leader(), p.followers()
	before := p.status(leader).DbSize
	file := filepath.Join(p.home, "plan.json")

	stdout, _ := p.mustRun(0, "plan", "etcd-defrag", "--rule", fragmented, "-o", file)
	for _, want := range []string{"defragment " + followers[0].Name, "by hand", "undo", "clients"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the plan does not say %q:\n%s", want, stdout)
		}
	}
	if got := p.journal(); len(got) > 0 {
		t.Errorf("planning wrote a journal: %q", got)
	}
	p.mustRun(0, "apply", file, "--dry-run")
	p.mustRun(0, "fix", "etcd-defrag", "--rule", fragmented, "--dry-run")
	if now := p.status(leader).DbSize; now != before {
		t.Errorf("a dry run changed the database from %d to %d", before, now)
	}
	p.stdin = "no\n"
	p.mustRun(ExitRefused, "fix", "etcd-defrag", "--rule", fragmented)
	_, stderr := p.mustRun(ExitUsage, "fix", "etcd-defrag", "--rule", fragmented, "--yes")
	if !strings.Contains(stderr, "--max-stall") {
		t.Errorf("got %s", stderr)
	}

	_, stderr = p.mustRun(0, "apply", file)
	t.Log(stderr)
	a, b := followers[0].Name, followers[1].Name
	want := []string{"began"}
	for _, s := range []string{"defragment/" + a, "defragment/" + b, "move-leader/" + leader.Name, "defragment/" + leader.Name} {
		want = append(want, "began "+s, "acted "+s, "done "+s)
	}
	want = append(want, "ended")
	if got := p.journal(); !slices.Equal(got, want) {
		t.Errorf("the journal says %q\nwant %q", got, want)
	}
	if now := p.leader(); now.Name != a {
		t.Errorf("%s leads, want %s", now.Name, a)
	}
	for _, m := range p.members {
		if now := p.status(m).DbSize; now >= before/2 {
			t.Errorf("%s: %d bytes, were %d", m.Name, now, before)
		}
	}
	_, stderr = p.mustRun(ExitRefused, "apply", file)
	if !strings.Contains(stderr, "carried out already") {
		t.Errorf("got %s", stderr)
	}
	stdout, _ = p.mustRun(0, "fix", "etcd-defrag", "--rule", "true", "--min-interval", "1h")
	if !strings.Contains(stdout, "left alone for --min-interval") || !strings.Contains(stdout, "nothing to do") {
		t.Errorf("got %s", stdout)
	}
}

// TestMemberThatDiesMidway kills one while another is worked on: nothing more
// is touched, and when it is back the plan is carried on.
func TestMemberThatDiesMidway(t *testing.T) {
	p := newEtcdCluster(t, 3, 0).patient()
	p.fragment(8)
	file := filepath.Join(p.home, "plan.json")
	p.mustRun(0, "plan", "etcd-defrag", "--rule", fragmented, "--settle-timeout", "5s", "-o", file)
	followers := p.followers()
	var once sync.Once
	p.each = func(all string) {
		if strings.Contains(all, "step 1 carried out") {
			once.Do(func() { p.kill(followers[1]) })
		}
	}
	_, stderr := p.mustRun(ExitStopped, "apply", file)
	if got := p.journal(); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, followers[1].Name) }) || slices.Contains(got, "ended") {
		t.Errorf("the journal says %q", got)
	}
	for _, want := range []string{"the cluster is not whole", "--resume", followers[1].Name + " does not answer"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("it does not say %q:\n%s", want, stderr)
		}
	}
	p.each = nil
	_, stderr = p.mustRun(ExitRefused, "plan", "etcd-defrag", "--rule", fragmented)
	if !strings.Contains(stderr, "does not answer") {
		t.Errorf("got %s", stderr)
	}
	p.start(followers[1])
	p.ready()
	p.mustRun(ExitRefused, "apply", file)
	p.mustRun(0, "apply", file, "--resume")
	got := p.journal()
	if got[len(got)-1] != "ended" {
		t.Errorf("the journal says %q", got)
	}
	for _, m := range p.members {
		if n := count(got, "began defragment/"+m.Name); n != 1 {
			t.Errorf("%s was defragmented %d times", m.Name, n)
		}
	}
}

// TestOneOfFiveIsDown holds that with --allow-down, and only with it, a cluster of
// five is cured round a member that is down: a majority remains without one more.
func TestOneOfFiveIsDown(t *testing.T) {
	p := newEtcdCluster(t, 5, 0).patient()
	p.fragment(8)
	down := p.followers()[0]
	p.kill(down)
	_, stderr := p.mustRun(ExitRefused, "plan", "etcd-defrag", "--rule", fragmented)
	if !strings.Contains(stderr, down.Name+" does not answer") || !strings.Contains(stderr, "--allow-down") {
		t.Errorf("got %s", stderr)
	}
	p.mustRun(0, "fix", "etcd-defrag", "--rule", fragmented, "--allow-down", "--yes", "--max-stall", "10s")
	got := p.journal()
	for _, m := range p.members {
		want := 1
		if m == down {
			want = 0
		}
		if n := count(got, "done defragment/"+m.Name); n != want {
			t.Errorf("%s was defragmented %d times, want %d", m.Name, n, want)
		}
	}
	// A second one that goes down is one too many.
	p.kill(p.followers0(down))
	_, stderr = p.mustRun(ExitRefused, "plan", "etcd-defrag", "--rule", "true", "--allow-down")
	if !strings.Contains(stderr, "is lost") {
		t.Errorf("got %s", stderr)
	}
}

// followers0 is a member that runs and does not lead.
func (c *etcdCluster) followers0(not *etcdProc) *etcdProc {
	c.t.Helper()
	for _, m := range c.members {
		if m != not && m.cmd != nil && m != c.leader() {
			return m
		}
	}
	c.t.Fatal("nobody follows")
	return nil
}

func count(in []string, what string) (n int) {
	for _, s := range in {
		if s == what {
			n++
		}
	}
	return n
}

// TestKilledAtEveryStep kills ktriage with SIGKILL at each thing that it says,
// and takes it up again each time. The cluster serves all the while.
func TestKilledAtEveryStep(t *testing.T) {
	p := newEtcdCluster(t, 3, 0).patient()
	p.fragment(8)
	file := filepath.Join(p.home, "plan.json")
	p.mustRun(0, "plan", "etcd-defrag", "--rule", fragmented, "-o", file)
	for _, at := range []string{"step 1 of 4: ", "step 1 carried out", "step 2 of 4: ", "step 3 of 4: ", "step 3 carried out", "step 3 done", "step 4 of 4: ", ""} {
		args := []string{"apply", file}
		if at != "step 1 of 4: " {
			args = append(args, "--resume")
		}
		var once sync.Once
		cmd, errs := p.spawn(func(all string, k *os.Process) {
			if at != "" && (strings.Contains(all, at) || strings.Contains(all, before(at))) {
				once.Do(func() { k.Kill() })
			}
		}, args...)
		err := cmd.Wait()
		if at == "" && err != nil {
			t.Fatalf("%v\n%s", err, errs)
		}
		if at != "" && !cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
			t.Fatalf("it ended by itself before %q\n%s", at, errs)
		}
		if _, err := p.client.Put(within(t), "/registry/x", at); err != nil {
			t.Fatalf("the cluster does not take writes after %q: %v", at, err)
		}
		// The lock in etcd of who was killed runs out; a test need not wait for that.
		if _, err := p.client.Delete(within(t), "/ktriage/lock"); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.journal(); got[len(got)-1] != "ended" || count(got, "ended") != 1 {
		t.Errorf("the journal says %q", got)
	}
}

// before is what a run says of a step that the one before it got through, after it
// was killed and before it was gone.
func before(at string) string {
	step, did, _ := strings.Cut(strings.TrimPrefix(at, "step "), " ")
	if did == "done" || did == "carried out" {
		return "step " + step + " of 4 was " + did + " before"
	}
	return at
}

// TestInterrupted sends SIGTERM in the middle of a step.
func TestInterrupted(t *testing.T) {
	p := newEtcdCluster(t, 3, 0).patient()
	p.fragment(8)
	file := filepath.Join(p.home, "plan.json")
	p.mustRun(0, "plan", "etcd-defrag", "--rule", fragmented, "-o", file)
	var once sync.Once
	cmd, errs := p.spawn(func(all string, k *os.Process) {
		if strings.Contains(all, "step 2 of 4: ") {
			once.Do(func() { k.Signal(syscall.SIGTERM) })
		}
	}, "apply", file)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != ExitStopped {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	if all := errs.String(); !strings.Contains(all, "stopped as asked") || !strings.Contains(all, "the cluster now: every member answers") {
		t.Errorf("it does not say where it stands:\n%s", all)
	}
	got := p.journal()
	if got[len(got)-1] != "stopped" || slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "failed") }) {
		t.Errorf("the journal says %q", got)
	}
	p.mustRun(0, "apply", file, "--resume")
}

// TestApplyRefuses holds that a plan is for one cluster in one state.
func TestApplyRefuses(t *testing.T) {
	p := newEtcdCluster(t, 3, 0).patient()
	p.fragment(4)
	plan := func(name string) string {
		file := filepath.Join(p.home, name)
		p.mustRun(0, "plan", "etcd-defrag", "--rule", fragmented, "-o", file)
		return file
	}
	refuses := func(file string, words string) {
		t.Helper()
		_, stderr := p.mustRun(ExitRefused, "apply", file)
		if !strings.Contains(stderr, words) || !strings.Contains(stderr, "this run changed nothing") && words != "digest" {
			t.Errorf("it does not say %q:\n%s", words, stderr)
		}
		if _, dry := p.mustRun(ExitRefused, "apply", file, "--dry-run"); !strings.Contains(dry, words) {
			t.Errorf("a dry run does not say %q:\n%s", words, dry)
		}
	}
	p.now = func() time.Time { return time.Now().Add(-2 * time.Hour) }
	stale := plan("stale.json")
	p.now = time.Now
	refuses(stale, "the plan is 2h")

	file := plan("plan.json")
	b, _ := os.ReadFile(file)
	changed := filepath.Join(p.home, "changed.json")
	os.WriteFile(changed, []byte(strings.Replace(string(b), `"cure-alarms",`, "", 1)), 0o600)
	refuses(changed, "digest")

	if _, stderr := p.mustRun(0, "apply", file, "--dry-run"); !strings.Contains(stderr, "step 1 of 4 would be begun now, and nothing was changed") {
		t.Errorf("a dry run says:\n%s", stderr)
	}

	// Two runs at a time.
	if _, err := p.client.Put(within(t), "/ktriage/lock", "someone@else"); err != nil {
		t.Fatal(err)
	}
	_, stderr := p.mustRun(ExitRefused, "apply", file)
	if !strings.Contains(stderr, "another run is under way") || !strings.Contains(stderr, "someone@else") {
		t.Errorf("got %s", stderr)
	}
	p.client.Delete(within(t), "/ktriage/lock")

	// The kill switch.
	if _, err := p.client.Put(within(t), "/ktriage/halt", ""); err != nil {
		t.Fatal(err)
	}
	refuses(file, "the key /ktriage/halt forbids cures")
	p.client.Delete(within(t), "/ktriage/halt")

	// Another cluster, at the addresses that the flags give.
	q := newEtcdCluster(t, 1, 0).patient()
	q.home = p.home
	_, stderr = q.mustRun(ExitRefused, "apply", file)
	if !strings.Contains(stderr, "another cluster") && !strings.Contains(stderr, "of cluster") {
		t.Errorf("got %s", stderr)
	}
	_, stderr = q.mustRun(ExitRefused, "plan", "etcd-defrag", "--rule", "true")
	if !strings.Contains(stderr, "--allow-single-member") {
		t.Errorf("got %s", stderr)
	}

	// The leader changes between plan and apply.
	to := p.followers()[0]
	if _, err := p.dialOne(p.leader()).MoveLeader(within(t), p.status(to).Header.MemberId); err != nil {
		t.Fatal(err)
	}
	p.ready()
	refuses(file, "the leader was")
	if got := p.journal(); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "began ") }) {
		t.Errorf("something was begun: %q", got)
	}
}

// dialOne is a client of one member only.
func (c *etcdCluster) dialOne(m *etcdProc) *clientv3.Client {
	c.t.Helper()
	cl, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + m.Client}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { cl.Close() })
	return cl
}

// fill writes until etcd raises NOSPACE.
func (c *etcdCluster) fill() {
	c.t.Helper()
	ctx := within(c.t)
	value := strings.Repeat("x", 512<<10)
	for i := range 400 {
		_, err := c.client.Put(ctx, "/registry/full", value)
		if errors.Is(err, rpctypes.ErrNoSpace) {
			return
		}
		if err != nil {
			c.t.Fatalf("write %d: %v", i, err)
		}
	}
	c.t.Fatal("etcd does not get full")
}

// TestNoSpaceIsCured fills an etcd, without any API server, and cures it.
func TestNoSpaceIsCured(t *testing.T) {
	p := newEtcdCluster(t, 3, 24<<20).patient()
	p.fill()
	snap := filepath.Join(p.home, "before.db")
	stdout, stderr := p.mustRun(0, "fix", "etcd-nospace", "--yes", "--max-stall", "1m", "--file", snap)
	t.Log(stdout, stderr)
	if al, err := p.client.AlarmList(within(t)); err != nil || len(al.Alarms) > 0 {
		t.Errorf("alarms: %v %v", al, err)
	}
	if _, err := p.client.Put(within(t), "/registry/again", "x"); err != nil {
		t.Errorf("write: %v", err)
	}
	if g, err := p.client.Get(within(t), "/registry/full"); err != nil || g.Count != 1 {
		t.Errorf("what was stored is gone: %v %v", g, err)
	}
	if g, err := p.client.Get(within(t), "/ktriage/probe"); err != nil || g.Count != 0 {
		t.Errorf("the probe was left: %v %v", g, err)
	}
	isSnapshot(t, snap)
	stdout, _ = p.mustRun(0, "fix", "etcd-nospace", "--yes")
	if !strings.Contains(stdout, "nothing to do") {
		t.Errorf("got %s", stdout)
	}
}

// TestCorruptBlocksBesideNoSpace raises both.
func TestCorruptBlocksBesideNoSpace(t *testing.T) {
	p := newEtcdCluster(t, 3, 0).patient()
	raise := func(typ pb.AlarmType) {
		t.Helper()
		m := p.members[1]
		req := &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, MemberID: p.status(m).Header.MemberId, Alarm: typ}
		if _, err := pb.NewMaintenanceClient(p.dialOne(m).ActiveConnection()).Alarm(within(t), req); err != nil {
			t.Fatal(err)
		}
	}
	raise(pb.AlarmType_NOSPACE)
	file := filepath.Join(p.home, "plan.json")
	p.mustRun(0, "plan", "etcd-nospace", "--file", filepath.Join(p.home, "x.db"), "-o", file)
	raise(pb.AlarmType_CORRUPT)
	_, stderr := p.mustRun(ExitRefused, "fix", "etcd-nospace", "--yes", "--max-stall", "1m")
	if !strings.Contains(stderr, "CORRUPT") {
		t.Errorf("got %s", stderr)
	}
	_, stderr = p.mustRun(ExitRefused, "apply", file)
	if !strings.Contains(stderr, "CORRUPT") {
		t.Errorf("got %s", stderr)
	}
	for _, r := range []string{"etcd-defrag", "etcd-compact", "etcd-snapshot", "etcd-move-leader"} {
		p.mustRun(ExitRefused, "plan", r, "--rule", "true")
	}
	if al, err := p.client.AlarmList(within(t)); err != nil || len(al.Alarms) != 2 {
		t.Errorf("alarms: %v %v", al, err)
	}
}

// TestCompactionKeepsHistory holds that a watch on what is kept goes on.
func TestCompactionKeepsHistory(t *testing.T) {
	p := newEtcdCluster(t, 3, 0).patient()
	for i := range 20 {
		if _, err := p.client.Put(within(t), "/registry/x", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(p.home, "plan.json")
	p.now = func() time.Time { return time.Now().Add(-30 * time.Minute) } // an operator looked then
	stdout, _ := p.mustRun(0, "plan", "etcd-compact")
	if !strings.Contains(stdout, "the step waits until the last one now is") {
		t.Errorf("got %s", stdout)
	}
	p.now = func() time.Time { return time.Now().Add(-15 * time.Minute) } // and made it then
	stdout, _ = p.mustRun(0, "plan", "etcd-compact", "-o", file)
	if !strings.Contains(stdout, "was the last one 15m ago: ktriage saw it then") {
		t.Errorf("got %s", stdout)
	}
	p.now = time.Now
	rev := p.status(p.leader()).Header.Revision
	if _, err := p.client.Put(within(t), "/registry/x", "later"); err != nil {
		t.Fatal(err)
	}
	before := p.status(p.leader()).Header.Revision
	stdout, _ = p.mustRun(0, "apply", file, "--dry-run")
	if !strings.Contains(stdout, "drop the history up to revision") || p.status(p.leader()).Header.Revision != before {
		t.Errorf("got %s", stdout)
	}
	p.mustRun(0, "apply", file)
	for _, m := range p.members {
		one := p.dialOne(m)
		if _, err := one.Get(within(t), "/registry/x", clientv3.WithRev(rev)); err != nil {
			t.Errorf("%s: revision %d, which was the last one, is gone: %v", m.Name, rev, err)
		}
		if _, err := one.Get(within(t), "/registry/x", clientv3.WithRev(rev-1)); !errors.Is(err, rpctypes.ErrCompacted) {
			t.Errorf("%s: revision %d is still there: %v", m.Name, rev-1, err)
		}
	}
	select {
	case w := <-p.client.Watch(within(t), "/registry/x", clientv3.WithRev(rev+1)):
		if w.Err() != nil {
			t.Errorf("a watch from revision %d: %v", rev+1, w.Err())
		}
	case <-time.After(10 * time.Second):
		t.Error("the watch tells nothing")
	}
}

func isSnapshot(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := len(b) - sha256.Size
	if n <= 0 || n%512 != 0 || sha256.Sum256(b[:n]) != [32]byte(b[n:]) {
		t.Errorf("%s is no snapshot: %d bytes", file, len(b))
	}
	if st, _ := os.Stat(file); st.Mode().Perm() != 0o600 {
		t.Errorf("%s, which holds Secrets, has mode %v", file, st.Mode())
	}
}

func TestSnapshotAndMoveLeader(t *testing.T) {
	p := newEtcdCluster(t, 3, 0).patient()
	p.fragment(4)
	file := filepath.Join(p.home, "a.db")
	p.stdin = "yes\n"
	p.mustRun(0, "fix", "etcd-snapshot", "--file", file)
	isSnapshot(t, file)
	_, stderr := p.mustRun(ExitRefused, "fix", "etcd-snapshot", "--file", file)
	if !strings.Contains(stderr, "is there already") {
		t.Errorf("got %s", stderr)
	}
	p.mustRun(0, "fix", "etcd-snapshot", "--yes")
	made, _ := filepath.Glob(filepath.Join(p.home, "state", "snapshots", "*"))
	if len(made) != 1 {
		t.Errorf("got %q", made)
	}
	stdout, _ := p.mustRun(0, "plan", "etcd-defrag", "--rule", fragmented, "--require-snapshot", "1h")
	if !strings.Contains(stdout, "the last snapshot known here is") {
		t.Errorf("got %s", stdout)
	}

	to := p.followers()[1]
	p.mustRun(0, "fix", "etcd-move-leader", "--to", to.Name, "--yes", "--max-stall", "10s")
	if now := p.leader(); now != to {
		t.Errorf("%s leads, want %s", now.Name, to.Name)
	}
}

func TestSingleMember(t *testing.T) {
	p := newEtcdCluster(t, 1, 0).patient()
	p.fragment(8)
	before := p.status(p.members[0]).DbSize
	p.mustRun(0, "fix", "etcd-defrag", "--rule", fragmented, "--allow-single-member", "--yes", "--max-stall", "10s")
	if now := p.status(p.members[0]).DbSize; now >= before {
		t.Errorf("%d bytes, were %d", now, before)
	}
}
