package diagnose

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
)

// Marks of findings that links read.
const (
	// WritePath marks a slow etcd member through which every write goes: the
	// leader, or one of so many followers that no fast majority is left.
	WritePath = "write-path"
	Leader    = "leader"
	// Hangs marks a member that lets those who ask it wait.
	Hangs = "hangs"
)

// A Predicate judges the evidence for one pair of a cause and an effect.
type Predicate func(cause, effect checks.Finding, all View) Strength

// byItsTaint fires where what keeps the pods away is the taint of nodes that
// wait for the cloud controller manager.
func byItsTaint(_, e checks.Finding, _ View) Strength {
	if strings.Contains(e.Summary, "node.cloudprovider.kubernetes.io/uninitialized") {
		return Direct
	}
	return No
}

// sameTarget fires for findings about the same thing.
func sameTarget(c, e checks.Finding, _ View) Strength {
	if c.Target.Is(e.Target) {
		return Direct
	}
	return No
}

// shares fires where both findings carry the same mark of that prefix: the same
// name.
func shares(prefix string) Predicate {
	return func(c, e checks.Finding, _ View) Strength {
		for _, m := range c.Marks {
			if strings.HasPrefix(m, prefix) && e.Marked(m) {
				return Direct
			}
		}
		return No
	}
}

// failsToRead fires for calls to etcd that fail, of which most read.
func failsToRead(_, e checks.Finding, _ View) Strength {
	for _, m := range e.Marks {
		if strings.HasPrefix(m, "operation=list") || strings.HasPrefix(m, "operation=get") {
			return CoOccurrence
		}
	}
	return No
}

// hasMark fires where the effect carries the mark.
func hasMark(m string) Predicate {
	return func(_, e checks.Finding, _ View) Strength {
		if e.Marked(m) {
			return CoOccurrence
		}
		return No
	}
}

// causeHasMark fires where the cause carries the mark.
func causeHasMark(m string) Predicate {
	return func(c, _ checks.Finding, _ View) Strength {
		if c.Marked(m) {
			return CoOccurrence
		}
		return No
	}
}

// bothOf fires where two predicates do, as weakly as the weaker.
func bothOf(a, b Predicate) Predicate {
	return func(c, e checks.Finding, v View) Strength { return min(a(c, e, v), b(c, e, v)) }
}

// refusedByCall fires where the cause is a webhook that cannot be called, for
// which the API server answers 500; what it refuses by itself, it answers 403.
func refusedByCall(c, _ checks.Finding, _ View) Strength {
	if c.Marked("by=webhook call") {
		return CoOccurrence
	}
	return No
}

// takes fires where the webhook takes in writes of one of the resources.
func takes(resources ...string) Predicate {
	return func(c, _ checks.Finding, _ View) Strength {
		if slices.ContainsFunc(resources, func(r string) bool { return c.Marked("takes=" + r) }) {
			return CoOccurrence
		}
		return No
	}
}

// takesResource fires where the webhook takes in the resource of which most
// requests fail.
func takesResource(c, e checks.Finding, _ View) Strength {
	for _, m := range e.Marks {
		if r, ok := strings.CutPrefix(m, "resource="); ok && c.Marked("takes="+r) {
			return Temporal
		}
	}
	return No
}

// silentPart fires for gaps about the thing that is down, about a part of it,
// or, where a member did not answer, about all members together.
func silentPart(c, e checks.Finding, _ View) Strength {
	t := about(e)
	switch {
	case c.Target.Is(t):
		return Direct
	case c.Target.Component != t.Component || !slices.Contains(reachesNothing, e.Gap.Reason):
		return No
	case c.Target.Name == "" || t.Name == "":
		return CoOccurrence
	}
	return No
}

// about is the thing that a finding is about: a certificate is shown by who
// serves with it.
func about(f checks.Finding) collectors.Target {
	if of, name, ok := strings.Cut(f.Target.Name, "/"); ok && f.Target.Component == collectors.Certificates {
		return collectors.Target{Component: collectors.Component(of), Name: name, Node: f.Target.Node}
	}
	return f.Target
}

// comparison fires for gaps of checks that compare members, where only one told
// anything.
func comparison(_, e checks.Finding, _ View) Strength {
	compares := ids{"etcd-db-size-divergence", "etcd-raft-index-lag"}
	if e.Gap.Reason == collectors.NotAsked && slices.Contains(compares, e.Check) {
		return Direct
	}
	return No
}

// itsPod fires where a pod is that of the process that is down: it is named
// after the component and, unless the component is down as a whole, the node.
func itsPod(c, e checks.Finding, _ View) Strength {
	of := map[collectors.Component]string{
		collectors.Etcd: "etcd", collectors.APIServer: "kube-apiserver", collectors.Scheduler: "kube-scheduler", collectors.Controllers: "kube-controller-manager",
	}
	if e.Target.Component == c.Target.Component && (e.Target.Is(c.Target) || c.Target.Name == "") {
		return Direct
	}
	_, pod, _ := strings.Cut(e.Target.Name, "/")
	name := of[c.Target.Component]
	if name == "" || !strings.HasPrefix(pod, name) {
		return No
	}
	if c.Target.Name == "" || strings.HasSuffix(pod, "-"+cmp.Or(c.Target.Node, c.Target.Name)) {
		return Direct
	}
	return No
}

// endedForItsLease fires where a scheduler or a controller manager ended as
// client-go's leader election ends a process that lost its lease: with exit code
// 1. A lease explains its own component only; a slow API server explains both.
func endedForItsLease(c, e checks.Finding, _ View) Strength {
	component := "kube-controller-manager"
	if e.Marked("component=kube-scheduler") {
		component = "kube-scheduler"
	}
	elected := e.Check == "kcm-restarts" || e.Marked("component=kube-controller-manager") || e.Marked("component=kube-scheduler")
	if !elected || !e.Marked(lostLease) {
		return No
	}
	if c.Target.Component == collectors.Leases && c.Target.Name != "kube-system/"+component {
		return No
	}
	return CoOccurrence
}

// probesStore fires where the health check that fails is the one that asks etcd,
// which gives up after two seconds.
func probesStore(c, e checks.Finding, v View) Strength {
	if !e.Marked("check=etcd") && !e.Marked("check=etcd-readiness") {
		return No
	}
	return SamePlace(c, e, v)
}

// onWritePath fires where the slow member is one that every write waits for. A
// single slow follower slows nothing but itself.
func onWritePath(c, _ checks.Finding, _ View) Strength {
	if c.Marked(WritePath) || c.Marked(Leader) {
		return CoOccurrence
	}
	return No
}

// hangs fires where the member that is down, or has no leader to ask, keeps its
// clients waiting; one that turns them away costs them nothing.
func hangs(c, _ checks.Finding, _ View) Strength {
	if c.Marked(Hangs) || c.Check == "etcd-no-leader" {
		return CoOccurrence
	}
	return No
}

// underWay is for how long, in seconds, a request that etcd held when a member
// was lost may go on, to be counted by who watches after that: etcd gives up
// after 5 s and two election timeouts (server/etcdserver, ServerConfig.ReqTimeout),
// 7 s by default, and the kubelet sees the end of a container a while after it.
const underWay = 15

// justLost fires where the member ended while we watched, or so soon before that
// what it was asked last ended in the window.
func justLost(c, _ checks.Finding, _ View) Strength {
	if before, ok := c.Numbers["lost"]; ok && before <= underWay {
		return CoOccurrence
	}
	return No
}

// nobodyLeads fires unless the cause is a single member that is cut off from a
// leader, which others have.
func nobodyLeads(c, _ checks.Finding, _ View) Strength {
	if c.Check == "etcd-no-leader" && c.Status != checks.Critical {
		return No
	}
	return Direct
}

// spareless fires where the members that are left are just enough, and no disk
// of theirs is the better explanation.
func spareless(c, e checks.Finding, all View) Strength {
	if spare, ok := c.Numbers["spare"]; !ok || spare != 0 {
		return No
	}
	return disksAreFast(c, e, all)
}

// oddWithout fires where the number of voters is even only because of members
// that the cause is about.
func oddWithout(c, e checks.Finding, all View) Strength {
	return oddBy(e, -all.count(c.Check))
}

// oddWith fires where it is even only because those are missing.
func oddWith(c, e checks.Finding, all View) Strength {
	return oddBy(e, all.count(c.Check))
}

func oddBy(e checks.Finding, n int) Strength {
	if voters := int(e.Number("voters")); voters > 0 && (voters+n)%2 == 1 {
		return Direct
	}
	return No
}

// onlyThoseDown fires where all voters that are down are those of the cause.
func onlyThoseDown(c, e checks.Finding, all View) Strength {
	if int(e.Number("down")) == all.count(c.Check) {
		return Direct
	}
	return No
}

// disksAreFast fires unless a slow disk that every write waits for, which is the
// better explanation, was seen.
func disksAreFast(_, _ checks.Finding, all View) Strength {
	for _, f := range all.Findings {
		if f.Check == "etcd-wal-fsync-slow" && f.Status.Bad() && onWritePath(f, f, all) != No {
			return No
		}
	}
	return CoOccurrence
}

func ofScheduler(c, e checks.Finding, _ View) Strength {
	return named(c, e, collectors.Scheduler, "kube-scheduler")
}

func ofControllers(c, e checks.Finding, _ View) Strength {
	return named(c, e, collectors.Controllers, "kube-controller-manager")
}

// turnedOut fires where the API server refused to know a component, or what it
// asked, for the most part: a single controller without rights stops no other.
func turnedOut(c, e checks.Finding, all View) Strength {
	if c.Number("unwelcome") < 0.5 {
		return No
	}
	return max(ofScheduler(c, e, all), ofControllers(c, e, all))
}

// expired fires where API servers meet expired certificates and a component is
// not known to them. Whose certificates they are no metric tells.
func expired(c, e checks.Finding, _ View) Strength {
	if c.Marked("expired") && e.Marked("401") {
		return CoOccurrence
	}
	return No
}

// cannotTell fires for gaps that consist of the refusal that the cause is about.
func cannotTell(c, e checks.Finding, _ View) Strength {
	if c.Target.Component == e.Target.Component && leases.RefusalOf(e.Gap) != leases.None {
		return Direct
	}
	return No
}

// cacheEmpty fires where what keeps an instance from being ready is a cache
// that is not filled.
func cacheEmpty(c, e checks.Finding, all View) Strength {
	if e.Marked("check=informer-sync") || e.Marked("check=poststarthook/storage-readiness") {
		return SamePlace(c, e, all)
	}
	return No
}

// turnedAway fires for components that were answered 429.
func turnedAway(_, e checks.Finding, _ View) Strength {
	if e.Marked("429") {
		return CoOccurrence
	}
	return No
}

// asksItself fires for gaps of components that say that they could not reach the
// very instance, or that, on its node, did not get to an answer: kubeadm lets
// schedulers and controller managers ask their own node's API server.
func asksItself(c, e checks.Finding, all View) Strength {
	for _, m := range c.Marks {
		if address, ok := strings.CutPrefix(m, "address="); ok && strings.Contains(e.Gap.Detail, "https://"+address+"/apis/auth") {
			return Direct
		}
	}
	elected := e.Target.Component == collectors.Scheduler || e.Target.Component == collectors.Controllers
	if elected && e.Gap.Reason == collectors.Timeout && strings.Contains(e.Gap.Detail, "/metrics") && node(c.Target) != "" && node(c.Target) == node(e.Target) {
		return CoOccurrence
	}
	return No
}

// forbidden fires for an instance that is answered 401 or 403.
func forbidden(c, e checks.Finding, all View) Strength {
	if c.Marked("401") || c.Marked("403") {
		return sameTarget(c, e, all)
	}
	return No
}

// mayNotBind fires where every binding is forbidden to the scheduler, or so
// much else that bindings will be, too.
func mayNotBind(c, _ checks.Finding, _ View) Strength {
	switch {
	case c.Target.Component != collectors.Scheduler:
		return No
	case c.Marked("may-not-bind"):
		return Direct
	case c.Number("unwelcome") >= 0.5:
		return CoOccurrence
	}
	return No
}

// named fires where each finding is of the component or of its lease.
func named(c, e checks.Finding, component collectors.Component, lease string) Strength {
	is := func(f checks.Finding) bool {
		if f.Target.Component == collectors.Leases {
			return strings.HasSuffix(f.Target.Name, "/"+lease)
		}
		return f.Target.Component == component || f.Target.Component == collectors.Pods
	}
	if is(c) && is(e) {
		return Direct
	}
	return No
}

// reachesNothing are the reasons of gaps that a dead peer leaves.
var reachesNothing = []collectors.Reason{collectors.Unreachable, collectors.NoPath, collectors.Timeout, collectors.ServerError, collectors.Absent}

// throughAPI fires for gaps of what is asked through the API server: all but
// etcd's own endpoints.
func throughAPI(c, e checks.Finding, _ View) Strength {
	if c.Status != checks.Critical || !slices.Contains(reachesNothing, e.Gap.Reason) {
		return No
	}
	if c.Target.Name == "" || c.Target.Is(e.Target) || !strings.Contains(e.Gap.Detail, "etcd://") {
		return CoOccurrence
	}
	return No
}

// tooSlow fires for gaps of requests that went through the API server and got
// no answer in time.
func tooSlow(_, e checks.Finding, _ View) Strength {
	slow := e.Gap.Reason == collectors.Timeout || e.Gap.Reason == collectors.NoPath || e.Gap.Reason == collectors.ServerError ||
		e.Gap.Reason == collectors.Canceled && strings.HasSuffix(e.Gap.Detail, collectors.NoTurn)
	if slow && !strings.Contains(e.Gap.Detail, "etcd://") {
		return CoOccurrence
	}
	return No
}

// throughEtcd fires for gaps that failed on the way to or in etcd.
func throughEtcd(c, e checks.Finding, all View) Strength {
	if nobodyLeads(c, e, all) != No && slices.Contains(reachesNothing, e.Gap.Reason) {
		return CoOccurrence
	}
	return No
}

// fits fires where p does and the effect is of a kind that the loss of the
// store, or of the API server, can bring about.
func fits(p Predicate) Predicate {
	return func(c, e checks.Finding, v View) Strength {
		if !plausible(c, e) {
			return No
		}
		return p(c, e, v)
	}
}

func plausible(c, e checks.Finding) bool {
	switch e.Check {
	case "apiserver-readyz-check-failing", "apiserver-livez-failing":
		failing := marked(e, "check=")
		return len(failing) == 0 || slices.ContainsFunc(failing, func(check string) bool {
			return strings.HasPrefix(check, "etcd") || strings.HasPrefix(check, "poststarthook/") || check == "informer-sync"
		})
	case "kcm-client-errors":
		// What is refused is refused whether or not other requests fail.
		code := "5xx"
		if c.Check == "apf-requests-rejected" || c.Check == "apiserver-decode-errors" && e.Marked("429") {
			code = "429"
		}
		return e.Marked(code) && !e.Marked("401") && !e.Marked("403")
	case "kcm-restarts":
		return e.Marked(lostLease)
	case "kcm-down", "scheduler-down":
		// Who loses the lease ends with exit code 1, or says so first.
		own := e.Marked("pod") || e.Marked("silent") || e.Marked("healthz")
		return !own || e.Marked(lostLease) || e.Marked("failing=leaderElection")
	}
	return true
}

// lostLease is how a component ends that does not renew its lease in time.
const lostLease = "exit=Error (exit code 1)"

// marked lists what follows a prefix among the marks of a finding.
func marked(f checks.Finding, prefix string) []string {
	var out []string
	for _, m := range f.Marks {
		if x, ok := strings.CutPrefix(m, prefix); ok {
			out = append(out, x)
		}
	}
	return out
}

// unlessCutOff fires where p does, but not for a member that alone has no
// leader: it is cut off from one that others have.
func unlessCutOff(p Predicate) Predicate {
	return func(c, e checks.Finding, v View) Strength {
		if e.Check == "etcd-no-leader" && e.Status != checks.Critical {
			return No
		}
		return p(c, e, v)
	}
}

// itsTrips fires for round trips of the member, or to it.
func itsTrips(c, e checks.Finding, _ View) Strength {
	if c.Target.Is(e.Target) || e.Marked("peer="+c.Target.Name) {
		return CoOccurrence
	}
	return No
}

// atEitherEnd fires where the effect is one of the two members that are far from
// each other.
func atEitherEnd(c, e checks.Finding, _ View) Strength {
	if c.Target.Is(e.Target) || c.Marked("peer="+e.Target.Name) {
		return CoOccurrence
	}
	return No
}

// farFromMost fires where more than one member is far from the others, or there
// are too few to do without: a majority of near ones waits for nobody. What is
// asked of the far one itself waits all the same.
func farFromMost(c, e checks.Finding, all View) Strength {
	members, far := map[string]bool{}, map[string]int{}
	pairs := 0
	for _, f := range all.Findings {
		if f.Check != c.Check {
			continue
		}
		members[f.Target.Name] = true
		if f.Status.Bad() {
			for _, peer := range marked(f, "peer=") {
				pairs++
				far[f.Target.Name]++
				far[peer]++
			}
		}
	}
	maps.DeleteFunc(far, func(_ string, n int) bool { return n < pairs }) // what is left has a part in all of it
	if len(far) > 0 && len(members) > 2 && far[e.Target.Name] == 0 {
		return No
	}
	return disksAreFast(c, e, all)
}

// leaderOrSameNode fires where the member leads, or is that of the API server's
// own node.
func leaderOrSameNode(c, e checks.Finding, _ View) Strength {
	if c.Marked(Leader) || node(c.Target) != "" && node(c.Target) == node(e.Target) {
		return CoOccurrence
	}
	return No
}

// ofTheLeaderless fires for what the API server asks, and for proposals of the
// members that have no leader.
func ofTheLeaderless(c, e checks.Finding, all View) Strength {
	if e.Target.Component == collectors.Etcd && c.Check == "etcd-no-leader" && c.Status != checks.Critical {
		return sameTarget(c, e, all)
	}
	return CoOccurrence
}

// missing fires where the members that are down account for all of the effect:
// as many voters are down, the round trips are to one of them, the leader
// changed no more often than one of them died.
func missing(c, e checks.Finding, all View) Strength {
	dead := float64(all.count(c.Check))
	switch e.Check {
	case "etcd-quorum-fragile":
		if e.Number("down") > dead+float64(all.count("etcd-unstarted-member")) {
			return No
		}
	case "etcd-peer-rtt-high":
		if peers := marked(e, "peer="); len(peers) != 1 || peers[0] != c.Target.Name {
			return No
		}
		return Direct
	case "etcd-leader-flapping":
		if e.Number("changes") > dead {
			return No
		}
	case "etcd-proposals-failed":
		if spare, ok := c.Numbers["spare"]; !all.Bad("etcd-leader-flapping") && (!ok || spare > 0) {
			return No
		}
	}
	return CoOccurrence
}

// ofVoters fires unless the effect is that a member without a vote is down.
func ofVoters(_, e checks.Finding, _ View) Strength {
	if e.Check == "etcd-member-unreachable" && e.Status != checks.Critical {
		return No
	}
	return Direct
}

// asFull fires where the cause's database is about as full as the effect's.
func asFull(c, e checks.Finding, _ View) Strength {
	if mine, its := c.Number("used"), e.Number("used"); mine > 0 && its > 0 && mine < 0.9*its {
		return No
	}
	return CoOccurrence
}

// atTheQuota fires where the database is as full as when the alarm was raised.
// One that is merely rather full will raise the next alarm.
func atTheQuota(_, e checks.Finding, _ View) Strength {
	if used := e.Number("used"); used > 0 && used < 0.9 {
		return No
	}
	return CoOccurrence
}

// refusedWrites fires for what is written. Reads go on while NOSPACE stands.
func refusedWrites(_, e checks.Finding, _ View) Strength {
	switch e.Check {
	case "apiserver-5xx-ratio":
		for _, verb := range marked(e, "verb=") {
			if verb == "GET" || verb == "LIST" || verb == "WATCH" {
				return No
			}
		}
	case "kcm-retries-high", "kcm-down", "scheduler-down":
		return CoOccurrence
	}
	return Direct
}

// unlessItsOwnIsFine fires unless the API server on the slow member's node, which
// asks that member if any does, has no such trouble.
func unlessItsOwnIsFine(c, e checks.Finding, all View) Strength {
	n := node(c.Target)
	if n == "" || n == node(e.Target) {
		return CoOccurrence
	}
	for _, f := range all.Findings {
		if f.Check == e.Check && f.Status == checks.OK && node(f.Target) == n {
			return No
		}
	}
	return CoOccurrence
}

// unreadable fires for requests for the resource that cannot be read.
func unreadable(c, e checks.Finding, all View) Strength {
	mine, its := marked(c, "resource="), marked(e, "resource=")
	if len(mine) > 0 && len(its) > 0 && !slices.ContainsFunc(its, func(r string) bool { return slices.Contains(mine, r) }) {
		return No
	}
	return SamePlace(c, e, all)
}

// sameLevel fires within one instance's priority level: each has seats of its
// own. Only the limit of all requests in flight concerns every level.
func sameLevel(c, e checks.Finding, all View) Strength {
	its := marked(e, "level=")
	if e.Check == "apf-leader-election-starved" {
		its = []string{"leader-election"}
	}
	if mine := marked(c, "level="); len(mine) > 0 && len(its) > 0 && !slices.Contains(its, mine[0]) {
		return No
	}
	return SamePlace(c, e, all)
}

// The times from which a slow API server makes leases late. Source:
// kube-scheduler and kube-controller-manager, --leader-elect-retry-period 2s,
// --leader-elect-renew-deadline 10s, and half of it as the client's timeout.
const (
	lateRenewal = 1.0
	lostRenewal = 5.0
)

// throughIt fires for what goes through the API server that is in trouble. One
// of several that is down stops only who asks it; failing writes of pods stop
// no lease, and neither do writes that take a second.
func throughIt(c, e checks.Finding, _ View) Strength {
	if c.Check == "apiserver-unreachable" && c.Status != checks.Critical {
		on := node(c.Target)
		if on == "" || on != node(e.Target) && !e.Marked("holder="+on) {
			return No
		}
		return CoOccurrence
	}
	if e.Target.Component != collectors.Leases {
		return CoOccurrence
	}
	if c.Check == "apiserver-5xx-ratio" && c.Number("ratio") < 0.5 {
		for _, r := range marked(c, "resource=") {
			if !strings.HasPrefix(r, "leases") {
				return No
			}
		}
	}
	enough := lostRenewal
	if e.Check == "lease-renew-slow" {
		enough = lateRenewal
	}
	if p99 := c.Number("p99"); p99 > 0 && p99 < enough {
		return No
	}
	return CoOccurrence
}

// ofCore fires for leases that have the priority level leader-election.
func ofCore(_, e checks.Finding, _ View) Strength {
	if e.Check == "lease-mass-loss" || len(marked(e, "component=")) > 0 || strings.HasPrefix(e.Target.Name, "kube-system/") {
		return CoOccurrence
	}
	return No
}

// nobodyWorks fires where no instance at all works, for what none else is known
// to keep up: what a namespace waits for may be told by its conditions, and
// pods may be some other scheduler's.
func nobodyWorks(c, e checks.Finding, _ View) Strength {
	switch {
	case c.Status != checks.Critical:
		return No
	case e.Check == "kcm-namespace-stuck" && slices.ContainsFunc(marked(e, "by="), func(by string) bool { return by != "" && by != "unseen" }):
		return No
	case e.Marked("custom-scheduler") || e.Check == "pod-pending-no-condition" && e.Marked("works"):
		return No
	}
	return Direct
}

// servesExpired fires where the certificate has expired and who does not accept
// it is a client of that very thing.
func servesExpired(c, e checks.Finding, all View) Strength {
	left, ok := c.Numbers["left"]
	of := about(c)
	switch {
	case !ok || left >= 0:
		return No
	case e.Check == "apiserver-etcd-errors" && of.Component == collectors.Etcd, e.Check == "kcm-client-errors" && of.Component == collectors.APIServer:
		return CoOccurrence
	case of.Is(e.Target):
		return says("x509", "certificate")(c, e, all)
	}
	return No
}

// sameHook fires for the same webhook of the same configuration.
func sameHook(c, e checks.Finding, all View) Strength {
	if len(marked(c, "webhook=")) > 0 && len(marked(e, "webhook=")) > 0 && shares("webhook=")(c, e, all) == No {
		return No
	}
	return sameTarget(c, e, all)
}

// refusedHook fires for a webhook whose certificate the API server refuses: one
// that is only about to end explains nothing yet.
func refusedHook(c, e checks.Finding, all View) Strength {
	for _, name := range marked(c, "refused=") {
		if e.Marked("webhook=" + name) {
			return sameTarget(c, e, all)
		}
	}
	return No
}

// refuses fires where the API server refuses the certificate that the cause is
// about, or is itself refused.
func refuses(c, _ checks.Finding, _ View) Strength {
	if len(marked(c, "refused=")) > 0 {
		return Direct
	}
	return No
}

// keepBack are the checks that tell for which Deployments pods are missing.
var keepBack = ids{"replicaset-failedcreate", "scheduler-unschedulable-pods"}

// accountsFor fires where the cause names one of the effect's Deployments, and
// each of them is accounted for by some such cause: one that is stuck for
// another reason is not to be hidden behind the others.
func accountsFor(c, e checks.Finding, all View) Strength {
	for _, d := range marked(e, "deployment=") {
		if !slices.ContainsFunc(all.Findings, func(f checks.Finding) bool {
			return f.Status.Bad() && slices.Contains(keepBack, f.Check) && f.Marked("deployment="+d)
		}) {
			return No
		}
	}
	return shares("deployment=")(c, e, all)
}

// asSlow fires where the webhook is slow enough for what waits.
func asSlow(c, e checks.Finding, _ View) Strength {
	enough := 1.0 // what holds a seat for less is no longer than an ordinary write
	if e.Check == "apiserver-webhook-latency-gap" {
		enough = e.Number("gap") / 2
	}
	if p99 := c.Number("p99"); p99 > 0 && p99 < enough {
		return No
	}
	return CoOccurrence
}

// silentToo fires for nodes of which nothing is heard. One that says itself what
// it lacks is another matter.
func silentToo(_, e checks.Finding, _ View) Strength {
	if e.Check == "node-notready" && e.Target.Name != "" && !e.Marked("silent") {
		return No
	}
	return Direct
}

// manyNodes fires for three nodes or more, all of them together or each by
// itself.
func manyNodes(_, e checks.Finding, all View) Strength {
	if e.Check == "nodes-mass-notready" || e.Target.Name == "" || all.count(e.Check) >= 3 {
		return CoOccurrence
	}
	return No
}

// onThatNode fires where the pods are on a node that the cause is about.
func onThatNode(c, e checks.Finding, _ View) Strength {
	switch n := node(e.Target); {
	case n == "", c.Check == "nodes-mass-notready" && c.Marked("most"):
		return CoOccurrence
	case c.Marked("node=" + n), c.Check == "node-notready" && c.Target.Name == n:
		return Direct
	}
	return No
}

// itsLog fires for what the same member logs. A log may go by its file's name:
// then it is some member's.
func itsLog(c, e checks.Finding, all View) Strength {
	member := func(f checks.Finding) bool { return !f.Marked("log") && f.Target.Is(e.Target) }
	switch {
	case c.Target.Is(e.Target):
		return Direct
	case c.Target.Name == "", !slices.ContainsFunc(all.Findings, member):
		return CoOccurrence
	case e.Check == "etcd-log-slow-apply" || e.Check == "etcd-log-late-heartbeat":
		return onWritePath(c, e, all)
	}
	return No
}

// says fires where the effect's own words, or a line that it shows, hold one of
// the texts.
func says(texts ...string) Predicate {
	return func(_, e checks.Finding, _ View) Strength {
		words := e.Summary
		for _, x := range e.Evidence {
			words += "\n" + x.Value
		}
		if slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(words, t) }) {
			return Direct
		}
		return No
	}
}

// lateHealth fires where a member did not answer /health in time, which waits
// for a read that goes through raft: it is slow itself, or all writes are.
func lateHealth(c, e checks.Finding, all View) Strength {
	if e.Gap.Reason != collectors.Timeout || !strings.Contains(e.Gap.Detail, "etcd://") || !strings.Contains(e.Gap.Detail, "/health") {
		return No
	}
	if c.Target.Is(about(e)) {
		return Direct
	}
	return onWritePath(c, e, all)
}

// podsNotThere fires for effects that do not wait for their controller, but for
// pods: a scheduler that does not work holds up all of them, pods that fit
// nowhere only their own Deployment.
func podsNotThere(c, e checks.Finding, all View) Strength {
	switch {
	case e.Marked("lag"):
		return No
	case c.Target.Component == collectors.Scheduler:
		return min(nobodyWorks(c, e, all), CoOccurrence)
	case c.Check == "scheduler-unschedulable-pods" && e.Check == "deployment-replicas-mismatch" && !c.Marked("deployment="+e.Target.Name):
		return No
	case c.Check == "scheduler-unschedulable-pods" && e.Number("missing") > c.Number("pods"):
		return No // more are missing than fit nowhere
	case c.Check == "node-notready" && e.Check == "daemonset-stuck" && e.Number("missing") > float64(all.count(c.Check))*max(1, e.Number("objects")):
		return No // a DaemonSet has one on each node
	}
	return CoOccurrence
}

// controllersRefused fires where the requests of a controller manager are
// refused.
func controllersRefused(c, _ checks.Finding, _ View) Strength {
	if c.Target.Component == collectors.Controllers && (c.Marked("401") || c.Marked("403")) {
		return Temporal
	}
	return No
}

// metricsAPI fires where the API that is not there is one of metrics.
func metricsAPI(c, e checks.Finding, _ View) Strength {
	if !e.Marked("lag") && slices.ContainsFunc(c.Marks, func(m string) bool { return strings.Contains(m, "metrics.k8s.io") }) {
		return CoOccurrence
	}
	return No
}

// nothingHeard fires for nodes of which nothing is heard: one that says itself
// that it is not ready is not given up.
func nothingHeard(c, _ checks.Finding, _ View) Strength {
	if c.Check == "nodes-mass-notready" || c.Marked("silent") {
		return CoOccurrence
	}
	return No
}

// asManyStale fires where at least as many API servers are in trouble as do not
// renew their lease.
func asManyStale(c, e checks.Finding, all View) Strength {
	if float64(all.count(c.Check)) >= e.Number("missing") {
		return CoOccurrence
	}
	return No
}

// isThePeer fires where what could not be sent was for the member that is down.
func isThePeer(c, e checks.Finding, _ View) Strength {
	if e.Marked("peer=" + c.Target.Name) {
		return Direct
	}
	return No
}

// ofOperators fires for leases of others than the control plane, who come to the
// API server by another way than pods do.
func ofOperators(_, e checks.Finding, _ View) Strength {
	if e.Marked("core") {
		return No
	}
	return CoOccurrence
}

// ofCloud fires where the lease that expired is the cloud controller manager's.
func ofCloud(c, _ checks.Finding, _ View) Strength {
	if c.Status == checks.Critical && strings.HasSuffix(c.Target.Name, "/cloud-controller-manager") {
		return Direct
	}
	return No
}

// differsIn fires where the API servers differ in such a flag.
func differsIn(mark string) Predicate {
	return func(c, _ checks.Finding, _ View) Strength {
		if c.Target.Name == "kube-apiserver" && slices.ContainsFunc(c.Marks, func(m string) bool { return strings.HasPrefix(m, mark) }) {
			return Direct
		}
		return No
	}
}

// isCritical fires where the cause is critical: an extension API that few ask
// for is none.
func isCritical(c, _ checks.Finding, _ View) Strength {
	if c.Status == checks.Critical {
		return CoOccurrence
	}
	return No
}

// isCompacted fires unless history that nobody compacts is the better reason.
func isCompacted(_, _ checks.Finding, all View) Strength {
	if all.Bad("etcd-compaction-stalled") {
		return No
	}
	return CoOccurrence
}

// noneLeft fires for failing requests for Services where no address is left.
func noneLeft(c, e checks.Finding, _ View) Strength {
	if left, ok := c.Numbers["left"]; ok && left <= 0 && e.Marked("resource=services") {
		return Temporal
	}
	return No
}

// ofEncrypted fires for what is encrypted where anything is: secrets, and the
// health check of the key service itself.
func ofEncrypted(_, e checks.Finding, _ View) Strength {
	if e.Marked("resource=secrets") || slices.ContainsFunc(marked(e, "check="), func(c string) bool { return strings.HasPrefix(c, "kms-") }) {
		return Temporal
	}
	return No
}

// tellsOfIt fires where a log tells of the very thing that was found, of the same
// member or instance if both name one.
func tellsOfIt(c, e checks.Finding, all View) Strength {
	for _, x := range inLogs {
		if x.cause != c.Check || !slices.Contains(x.signed, e.Check) {
			continue
		}
		if c.Target.Component != e.Target.Component || c.Check == "etcd-member-unreachable" || c.Check == "replicaset-failedcreate" {
			return CoOccurrence // the log is of who meets with it
		}
		return itsLog(c, e, all)
	}
	return No
}
