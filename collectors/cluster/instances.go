package cluster

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Role is what a process of the control plane is.
type Role string

// The roles.
const (
	RoleEtcd            Role = "etcd"
	RoleAPIServer       Role = "kube-apiserver"
	RoleScheduler       Role = "kube-scheduler"
	RoleControllers     Role = "kube-controller-manager"
	RoleCloudController Role = "cloud-controller-manager"
)

// An Instance is one process of the control plane that runs as a pod.
type Instance struct {
	Role      Role
	Namespace string
	Pod       string
	Node      string
	HostIP    string
	Flags     map[string]string // of its command line, without the dashes
	Ready     bool
	Unready   time.Time // since when it is not ready; zero if it is, or if that is not known
	Phase     corev1.PodPhase
	Restarts  int32
	Started   time.Time // of the running container; zero if none runs
	Waiting   string    // why the container does not run: "CrashLoopBackOff"
	LastExit  string    // how the previous container ended: "OOMKilled (137)"

	Static   bool   // a kubelet runs it from a file of its node
	Image    string // of the container
	Priority string // the class of the pod
	Requests string // CPU that is kept for it: "250m"; empty for none
	CPULimit string // above which it is throttled; empty for none
	MemLimit string // above which it is killed
	Hash     string // of the manifest that the pod mirrors
	Mirrors  string // of the one that it says to mirror
	// Loose says that the instance is known from loose evidence, which does
	// not tell what other instances there are. MadeUp says that not even its
	// pod is in it: something that it said is, which shows that it ran.
	Loose, MadeUp bool
}

// LooseLabel marks the pods that a Source of loose evidence hands out: those
// that are in the evidence, and those that stand for a process of which only
// something that it said is there.
const (
	LooseLabel  = "ktriage.dev/evidence"
	LoosePod    = "pod"
	LooseMadeUp = "made-up"
)

// Name is what the operator calls the instance: its node, for the static pods
// of which each node has one.
func (i Instance) Name() string {
	if i.Node != "" && strings.HasSuffix(i.Pod, "-"+i.Node) {
		return i.Node
	}
	return i.Pod
}

// Flag returns a flag of the command line, or a default.
func (i Instance) Flag(name, otherwise string) string {
	if v, ok := i.Flags[name]; ok {
		return v
	}
	return otherwise
}

// PodURL is the front part of the URL of a port of the instance's pod.
func (i Instance) PodURL(scheme, port string) string {
	u := url.URL{Scheme: "pod+" + scheme, Host: i.Namespace, Path: "/" + i.Pod + ":" + port}
	if i.Node != "" {
		u.User = url.User(i.Node)
	}
	return u.String()
}

// Instances lists the control plane's pods: static pods with kubeadm's labels,
// and OpenShift's. It waits for no more of the cluster's identity than where to
// look: half of all facts wait for this one.
var Instances = &collectors.Fact[[]Instance]{
	ID:      "cluster.instances",
	Doc:     "the pods of etcd, API server, scheduler and controller managers, with their flags",
	Needs:   []collectors.Any{openShift},
	Targets: collectors.Single(Self),
	Ask: func(s *collectors.Snapshot, _ collectors.Target) []collectors.Request {
		list := func(ns, selector string) collectors.Request {
			return collectors.Request{Verb: collectors.List, URL: "kube:/api/v1/namespaces/" + ns + "/pods?labelSelector=" + url.QueryEscape(selector)}
		}
		if oc, _ := openShift.One(s); oc {
			return []collectors.Request{
				list("openshift-etcd", "app=etcd"),
				list("openshift-kube-apiserver", "app=openshift-kube-apiserver"),
				list("openshift-kube-scheduler", "app=openshift-kube-scheduler"),
				list("openshift-kube-controller-manager", "app=kube-controller-manager"),
			}
		}
		return []collectors.Request{list("kube-system", "tier=control-plane")}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[[]Instance] {
		var out []Instance
		return collectors.Folder[[]Instance]{
			Add: func(_ int, o objects.Object) {
				if i, ok := newInstance(o.(*corev1.Pod)); ok {
					out = append(out, i)
				}
			},
			Done: func([]collectors.Answered) ([]Instance, error) {
				slices.SortFunc(out, func(a, b Instance) int {
					return strings.Compare(string(a.Role)+"/"+a.Pod, string(b.Role)+"/"+b.Pod)
				})
				return out, nil
			},
		}
	},
}

// roles tells a role by a pod's container of that name. OpenShift's pods have
// sidecars beside it.
var roles = []Role{RoleEtcd, RoleAPIServer, RoleScheduler, RoleControllers, RoleCloudController}

func newInstance(p *corev1.Pod) (Instance, bool) {
	var role Role
	var container corev1.Container
	for _, c := range p.Spec.Containers {
		if slices.Contains(roles, Role(c.Name)) {
			role, container = Role(c.Name), c
		}
	}
	if role == "" {
		return Instance{}, false
	}
	i := Instance{
		Role: role, Namespace: p.Namespace, Pod: p.Name, Node: p.Spec.NodeName, HostIP: p.Status.HostIP,
		Flags: parseFlags(append(slices.Clone(container.Command), container.Args...)), Phase: p.Status.Phase,
	}
	i.Image, i.Priority = container.Image, p.Spec.PriorityClassName
	i.Requests, i.CPULimit, i.MemLimit = amount(container.Resources.Requests, corev1.ResourceCPU), amount(container.Resources.Limits, corev1.ResourceCPU), amount(container.Resources.Limits, corev1.ResourceMemory)
	i.Mirrors, i.Static = p.Annotations[corev1.MirrorPodAnnotationKey], p.Annotations["kubernetes.io/config.source"] == "file"
	i.Hash = p.Annotations["kubernetes.io/config.hash"]
	kind, loose := p.Labels[LooseLabel]
	i.Loose, i.MadeUp = loose, kind == LooseMadeUp
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			if i.Ready = c.Status == corev1.ConditionTrue; !i.Ready {
				i.Unready = c.LastTransitionTime.Time
			}
		}
	}
	for _, st := range p.Status.ContainerStatuses {
		if st.Name != container.Name {
			continue
		}
		i.Restarts = st.RestartCount
		if st.State.Running != nil {
			i.Started = st.State.Running.StartedAt.Time
		}
		if st.State.Waiting != nil {
			i.Waiting = st.State.Waiting.Reason
		}
		if t := st.LastTerminationState.Terminated; t != nil {
			i.LastExit = exit(t)
		}
	}
	return i, true
}

func amount(l corev1.ResourceList, name corev1.ResourceName) string {
	if q, ok := l[name]; ok {
		return q.String()
	}
	return ""
}

func exit(t *corev1.ContainerStateTerminated) string {
	code := "exit code " + strconv.Itoa(int(t.ExitCode))
	if t.Reason == "" {
		return code
	}
	return t.Reason + " (" + code + ")"
}

// listFlags are those that add up where they are given more than once, as
// OpenShift does: --controllers=* --controllers=-ttl. Of others the last counts.
var listFlags = []string{
	"admission-control", "controllers", "disable-admission-plugins", "enable-admission-plugins", "etcd-servers", "etcd-servers-overrides",
	"feature-gates", "runtime-config", "api-audiences", "service-account-issuer", "service-account-key-file",
}

// parseFlags reads "--a=b", "--a b" and "--a". OpenShift runs its components
// from a shell script; there the flags are found inside its text.
func parseFlags(command []string) map[string]string {
	flags := map[string]string{}
	var words []string
	for _, c := range command {
		words = append(words, strings.Fields(c)...)
	}
	for n, w := range words {
		name, ok := strings.CutPrefix(w, "--")
		if !ok || name == "" {
			continue
		}
		name, value, ok := strings.Cut(name, "=")
		if !ok && n+1 < len(words) && !strings.HasPrefix(words[n+1], "-") && words[n+1] != `\` {
			value, ok = words[n+1], true
		}
		if !ok {
			value = "true"
		}
		value = strings.Trim(value, `"'`)
		if before, again := flags[name]; again && slices.Contains(listFlags, name) {
			value = before + "," + value
		}
		flags[name] = value
	}
	return flags
}

// InRole returns the instances of a role, or a gap that says why none is
// known. That there are none to see in a cluster that hides or embeds them is
// out of scope. A fact that uses it needs WhatKind and Instances.
func InRole(s *collectors.Snapshot, r Role) ([]Instance, *collectors.Gap) {
	kind, kindGap := WhatKind.One(s)
	if kindGap != nil && kindGap.Reason == collectors.Bug {
		return nil, kindGap // not needed, or worse: silence would pass for an unknown kind
	}
	if kindGap == nil && r != RoleAPIServer {
		switch {
		case kind.Managed():
			return nil, collectors.Gapf(collectors.OutOfScope, "%s keeps the %s to itself", kind.Distribution, r).Of(collectors.Hidden)
		case kind.Embedded && r != RoleEtcd:
			return nil, collectors.Gapf(collectors.OutOfScope, "%s runs the %s inside its own process", kind.Distribution, r).Of(collectors.Hidden)
		case kind.SQL && r == RoleEtcd:
			return nil, collectors.Gapf(collectors.OutOfScope, "%s stores in a database that is not etcd", kind.Distribution)
		}
	}
	all, gap := Instances.One(s)
	if gap != nil {
		return nil, gap
	}
	var out []Instance
	for _, i := range all {
		if i.Role == r {
			out = append(out, i)
		}
	}
	if len(out) == 0 && slices.ContainsFunc(all, func(i Instance) bool { return i.Loose }) {
		return nil, collectors.Gapf(collectors.NotAsked, "the evidence holds nothing of %s", r)
	}
	if len(out) == 0 {
		return nil, collectors.Gapf(collectors.Absent, "no %s pod has the label tier=control-plane in kube-system", r)
	}
	return out, nil
}
