package evidence

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ktriage/ktriage/collectors/cluster"
)

// An instance is one process of the control plane, with all that the evidence
// has of it.
type instance struct {
	role    cluster.Role
	name    string // unlike that of every other instance
	pod     *corev1.Pod
	madeUp  bool   // pod is not in the evidence
	addr    string // host:port where it is asked directly
	id      uint64 // of an etcd member; 0 if it is not known
	body    *body
	status  *status
	reports []*report
}

// roles are those that facts discover by their pods.
var roles = []cluster.Role{cluster.RoleEtcd, cluster.RoleAPIServer, cluster.RoleScheduler, cluster.RoleControllers, cluster.RoleCloudController}

// assemble puts together what belongs to one process.
func (e *Evidence) assemble() {
	e.oneCluster()
	for _, o := range e.held("v1", "Pod") {
		if p, ok := o.Object.(*corev1.Pod); ok && !o.bare && (p.Namespace == "kube-system" || strings.HasPrefix(p.Namespace, "openshift-")) {
			if r, c := roleOf(p); r != "" {
				e.instances = append(e.instances, fromPod(p, r, c))
			}
		}
	}
	for _, m := range e.members {
		i := e.find(cluster.RoleEtcd, func(i *instance) bool {
			return m.Name != "" && flag(i.pod, "name") == m.Name || slices.ContainsFunc(m.ClientURLs, func(u string) bool { return hostPort(u) == i.addr })
		})
		if i == nil && m.Name != "" {
			i = e.made(cluster.RoleEtcd, m.Name, "")
		}
		if i != nil {
			i.id = m.ID
			for _, u := range m.ClientURLs {
				if reachable(hostPort(u)) {
					i.addr = hostPort(u)
				}
			}
		}
	}
	give(e, cluster.RoleEtcd, e.statuses,
		func(s *status, i *instance) bool {
			return i.id != 0 && i.id == s.id || s.endpoint != "" && s.endpoint == i.addr
		},
		func(i *instance) bool { return i.status == nil },
		func(s *status) *instance {
			return e.made(cluster.RoleEtcd, cmp.Or(hostOf(s.endpoint), stem(s.file)), s.endpoint)
		},
		func(i *instance, s *status) { i.status, i.id = s, s.id })
	for _, r := range roles {
		give(e, r, e.bodiesOf(r),
			func(b *body, i *instance) bool { return b.id != 0 && i.id == b.id || i.namedIn(b.name) },
			func(i *instance) bool { return i.body == nil && (i.id == 0 || i.status == nil) },
			func(b *body) *instance { return e.made(r, stem(b.name), "") },
			func(i *instance, b *body) { i.body, i.id = b, cmp.Or(i.id, b.id) })
		var reports []*report
		for _, x := range e.reports {
			if x.of == string(r) {
				reports = append(reports, x)
			}
		}
		give(e, r, reports,
			func(x *report, i *instance) bool {
				return x.id != 0 && x.id == i.id || x.endpoint != "" && x.endpoint == i.addr || x.id == 0 && x.endpoint == "" && i.namedIn(x.file)
			},
			func(i *instance) bool { return !slices.ContainsFunc(i.reports, func(*report) bool { return true }) },
			func(x *report) *instance {
				name := hostOf(x.endpoint)
				if x.id != 0 {
					name = strconv.FormatUint(x.id, 16)
				}
				return e.made(r, cmp.Or(name, stem(x.file)), x.endpoint)
			},
			func(i *instance, x *report) { i.reports, i.id = append(i.reports, x), cmp.Or(i.id, x.id) })
	}
}

// nameLogs says of logs whose path names an instance whose they are.
func (e *Evidence) nameLogs() {
	for n := range e.logs {
		l := &e.logs[n]
		var all []*instance
		for _, i := range e.instances {
			if i.role == l.Role {
				all = append(all, i)
			}
			if i.role == l.Role && !i.madeUp && i.namedIn(l.Name) {
				l.Of = i.target()
			}
		}
		same := 0
		for _, o := range e.logs {
			if o.Role == l.Role {
				same++
			}
		}
		if l.Of == "" && same == 1 && len(all) == 1 {
			l.Of = all[0].target()
		}
	}
}

// target is the name that facts give to the instance.
func (i *instance) target() string {
	if n := flag(i.pod, "name"); i.role == cluster.RoleEtcd && n != "" && !strings.ContainsAny(n, "$(){}") {
		return n
	}
	if n := i.pod.Spec.NodeName; n != "" && strings.HasSuffix(i.pod.Name, "-"+n) {
		return n
	}
	return i.pod.Name
}

// give hands out pieces of evidence to the instances of a role: to one that
// they match, to the only one that is left for the only piece that is left, or
// to one made up for it. Real pods to which nothing can be given while pieces
// are left over are taken to be those of the pieces, and stand back.
func give[T any](e *Evidence, r cluster.Role, pieces []T, match func(T, *instance) bool, free func(*instance) bool, make func(T) *instance, put func(*instance, T)) {
	var left []T
	for _, x := range pieces {
		if i := e.find(r, func(i *instance) bool { return match(x, i) }); i != nil {
			put(i, x)
		} else {
			left = append(left, x)
		}
	}
	if len(left) == 0 {
		return
	}
	var open []*instance
	for _, i := range e.instances {
		if i.role == r && free(i) {
			open = append(open, i)
		}
	}
	if len(left) == 1 && len(open) == 1 {
		put(open[0], left[0])
		return
	}
	if len(e.members) == 0 || r != cluster.RoleEtcd {
		e.instances = slices.DeleteFunc(e.instances, func(i *instance) bool { return i.role == r && i.empty() })
	}
	for _, x := range left {
		put(make(x), x)
	}
}

func (i *instance) empty() bool { return i.body == nil && i.status == nil && len(i.reports) == 0 }

func (e *Evidence) find(r cluster.Role, is func(*instance) bool) *instance {
	for _, i := range e.instances {
		if i.role == r && is(i) {
			return i
		}
	}
	return nil
}

func (e *Evidence) bodiesOf(r cluster.Role) []*body {
	var out []*body
	for _, b := range e.bodies {
		if b.role == r {
			out = append(out, b)
		}
	}
	return out
}

// namedIn reports whether a file's path names the instance: its pod or its node.
func (i *instance) namedIn(file string) bool {
	if i.madeUp {
		return i.name == stem(file)
	}
	return strings.Contains(file, i.pod.Name) || i.pod.Spec.NodeName != "" && named(file, i.pod.Spec.NodeName)
}

// named reports whether a path holds a name that is not part of a longer one:
// cp-1 is not in cp-10/metrics.
func named(file, name string) bool {
	for rest := file; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		end := i + len(name)
		if (i == 0 || !wordByte(rest[i-1])) && (end == len(rest) || !wordByte(rest[end])) {
			return true
		}
		rest = rest[end:]
	}
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// oneCluster keeps the statuses of one etcd cluster. Outputs for several
// members each that have none in common tell of different clusters, or of
// different times: they must not be put together.
func (e *Evidence) oneCluster() {
	byFile := map[string][]*status{}
	var order []string
	for _, s := range e.statuses {
		if byFile[s.file] == nil {
			order = append(order, s.file)
		}
		byFile[s.file] = append(byFile[s.file], s)
	}
	var first string
	keep := map[uint64]*status{}
	for _, f := range order {
		common := slices.ContainsFunc(byFile[f], func(s *status) bool { return keep[s.id] != nil })
		switch {
		case first == "" || len(byFile[f]) == 1 && len(byFile[first]) == 1 || common:
			first = cmp.Or(first, f)
			for _, s := range byFile[f] {
				if keep[s.id] == nil {
					keep[s.id] = s
				}
			}
		default:
			e.skip(f, "its etcd members are not those of "+first)
		}
	}
	e.statuses = slices.DeleteFunc(e.statuses, func(s *status) bool { return keep[s.id] != s })
}

func hostOf(hostPort string) string {
	h, port, err := net.SplitHostPort(hostPort)
	switch {
	case err != nil:
		return ""
	case !reachable(hostPort):
		return h + "-" + port
	}
	return h
}

// made makes up the pod of a process that is known by what it said.
func (e *Evidence) made(r cluster.Role, name, addr string) *instance {
	name = strings.Map(func(c rune) rune {
		if c < 0x80 && wordByte(byte(c)) || c == '-' || c == '.' {
			return c
		}
		return '-'
	}, cmp.Or(name, string(r)))
	base := name
	for n := 2; slices.ContainsFunc(e.instances, func(i *instance) bool { return i.name == name }); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	port := map[cluster.Role]string{cluster.RoleEtcd: "2379", cluster.RoleAPIServer: "6443"}[r]
	if !reachable(addr) {
		addr = net.JoinHostPort(name, cmp.Or(port, "443"))
	}
	command := []string{string(r)}
	if r == cluster.RoleEtcd {
		command = append(command, "--name="+name, "--advertise-client-urls=https://"+addr, "--listen-metrics-urls=http://127.0.0.1:2381")
	}
	i := &instance{role: r, name: name, madeUp: true, addr: addr, pod: &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name, Labels: map[string]string{"tier": "control-plane", cluster.LooseLabel: cluster.LooseMadeUp}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: string(r), Command: command}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, HostIP: name, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue},
		}},
	}}
	e.instances = append(e.instances, i)
	return i
}

// fromPod makes the instance of a real pod.
func fromPod(p *corev1.Pod, r cluster.Role, container string) *instance {
	p = p.DeepCopy()
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[cluster.LooseLabel] = cluster.LoosePod
	i := &instance{role: r, name: p.Namespace + "/" + p.Name, pod: p}
	switch r {
	case cluster.RoleEtcd:
		for u := range strings.SplitSeq(flag(p, "advertise-client-urls"), ",") {
			if reachable(hostPort(u)) {
				i.addr = hostPort(u)
			}
		}
		i.addr = cmp.Or(i.addr, net.JoinHostPort(p.Status.HostIP, "2379"))
	case cluster.RoleAPIServer:
		i.addr = net.JoinHostPort(cmp.Or(flag(p, "advertise-address"), p.Status.HostIP), cmp.Or(flag(p, "secure-port"), "6443"))
	}
	return i
}

func roleOf(p *corev1.Pod) (cluster.Role, string) {
	for _, c := range p.Spec.Containers {
		if slices.Contains(roles, cluster.Role(c.Name)) {
			return cluster.Role(c.Name), c.Name
		}
	}
	return "", ""
}

// flag returns a flag of a pod's command lines, written as --name=value.
func flag(p *corev1.Pod, name string) string {
	for _, c := range p.Spec.Containers {
		for _, w := range append(slices.Clone(c.Command), c.Args...) {
			for f := range strings.FieldsSeq(w) {
				if v, ok := strings.CutPrefix(f, "--"+name+"="); ok {
					return v
				}
			}
		}
	}
	return ""
}

// served is when an instance's metrics are from.
func (e *Evidence) served(b *body) time.Time {
	switch {
	case e.given || b.at.IsZero():
		return e.At
	default:
		return b.at
	}
}
