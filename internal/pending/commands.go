package pending

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/internal/fit"
)

// A subject is the pod that a change is for, and who would make it again.
type subject struct {
	pod   *corev1.Pod // nil where the objects are not known
	ns    string
	name  string
	owner pods.Owner
}

// templated are the owners whose template of a pod can be changed, with what
// kubectl calls them.
var templated = map[string]string{"Deployment": "deployment", "StatefulSet": "statefulset", "DaemonSet": "daemonset", "ReplicaSet": "replicaset"}

// object is what kubectl calls the thing that holds the pod's description, and
// the path to it. Of a pod that nobody would make again, or a Job's, whose
// template cannot be changed, there is none.
func (s subject) object() (name, path string, ok bool) {
	kind, ok := templated[s.owner.Kind]
	if !ok {
		return "", "", false
	}
	return kind + "/" + word(s.owner.Name), "/spec/template/spec", true
}

// remake is how the description of a pod is changed that does not let itself be
// changed: it is made anew.
func (s subject) remake(what string) []string {
	switch {
	case s.owner.Kind == "Job":
		return []string{fmt.Sprintf("kubectl -n %s get job %s -o yaml > job.yaml   # %s, take out status, selector and the controller-uid labels", s.ns, word(s.owner.Name), what),
			"kubectl replace --force -f job.yaml"}
	case s.owner.Kind != "":
		return []string{fmt.Sprintf("kubectl -n %s edit %s %s   # %s, in its template of the pod", s.ns, word(strings.ToLower(s.owner.Kind)), word(s.owner.Name), what)}
	}
	return []string{fmt.Sprintf("kubectl -n %s get pod %s -o yaml > pod.yaml   # %s", s.ns, word(s.name), what), "kubectl replace --force -f pod.yaml"}
}

// patch changes the pod's description where it is kept.
func (s subject) patch(what string, ops ...op) []string {
	name, path, ok := s.object()
	if !ok {
		return s.remake(what)
	}
	for i := range ops {
		ops[i].Path = path + ops[i].Path
	}
	return []string{fmt.Sprintf("kubectl -n %s patch %s --type=json -p %s", s.ns, name, word(jsonText(ops)))}
}

// An op is one operation of a JSON patch.
type op struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

func jsonText(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // of maps and strings only: it cannot fail
	return strings.TrimSpace(b.String())
}

// pointer escapes a part of a JSON patch's path.
func pointer(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

// word quotes what is no plain word, as a shell wants it.
func word(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// commands are what an operator would type for one edit.
func (s subject) commands(e fit.Edit) []string {
	node := word(e.Object.Name)
	switch e.Kind {
	case fit.LowerRequest:
		return s.lower(e)
	case fit.AddLabel:
		return []string{"kubectl label node " + node + " " + pairs(e.Labels)}
	case fit.Tolerate:
		return s.tolerate(e)
	case fit.RemoveTaint:
		if e.Taint == nil {
			return nil
		}
		return []string{"kubectl taint node " + node + " " + word(e.Taint.Key+":"+e.Taint.Effect+"-")}
	case fit.Uncordon:
		return []string{"kubectl uncordon " + node}
	case fit.FreePort, fit.FreeVolume, fit.EvictPods:
		return s.stop(e)
	case fit.ReplaceClaim:
		out := []string{fmt.Sprintf("kubectl -n %s delete persistentvolumeclaim %s   # with what is on it", word(e.Object.Namespace), word(e.Object.Name))}
		if s.ownVolume(e) {
			return out
		}
		return append([]string{fmt.Sprintf("kubectl -n %s get persistentvolumeclaim %s -o jsonpath='{.metadata.finalizers}'   # what holds it", word(e.Object.Namespace), word(e.Object.Name))}, s.create(e)...)
	case fit.CreateClaim, fit.CreateClass, fit.CreateVolume:
		return s.create(e)
	case fit.DropSelector:
		var ops []op
		for _, k := range slices.Sorted(maps.Keys(e.Labels)) {
			ops = append(ops, op{Op: "remove", Path: "/nodeSelector/" + pointer(k)})
		}
		if len(ops) == 0 {
			ops = []op{{Op: "remove", Path: "/nodeSelector"}}
		}
		return s.patch("take out of nodeSelector what no node has", ops...)
	case fit.RelaxAffinity:
		return s.relax(e)
	case fit.RelaxSpread:
		return s.spread(e)
	case fit.OwnSpread:
		return s.patch("give it a topologySpreadConstraint of its own, with whenUnsatisfiable ScheduleAnyway", op{"add", "/topologySpreadConstraints", []any{map[string]any{
			"maxSkew": 1, "topologyKey": e.Of, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": map[string]any{"matchLabels": e.Labels}}}})
	case fit.DropPort:
		return s.dropPort(e)
	case fit.MendNode:
		return []string{"kubectl describe node " + node, "journalctl -u kubelet -n 200   # on the node"}
	case fit.InstallDriver:
		return []string{"kubectl get csinode " + node + " -o yaml", fmt.Sprintf("kubectl get pods -A -o wide --field-selector spec.nodeName=%s   # is the node plugin of %s among them", node, word(driverOf(e)))}
	case fit.UpgradeNode:
		return []string{"kubectl drain " + node + " --ignore-daemonsets   # and put a kubelet on it that declares " + strings.Join(e.Shape.Features, ", ")}
	case fit.Detach:
		var out []string
		for _, a := range e.Attachments {
			out = append(out, "kubectl delete volumeattachment "+word(a.Name)+"   # once nothing on the node has it mounted")
		}
		return out
	case fit.ResetClaim:
		return []string{fmt.Sprintf("kubectl -n %s annotate persistentvolumeclaim %s volume.kubernetes.io/selected-node-", word(e.Object.Namespace), word(e.Object.Name))}
	case fit.FreeDevices:
		return s.freeDevices(e)
	case fit.RemoveGates:
		return []string{fmt.Sprintf("kubectl -n %s patch pod %s --type=json -p %s", s.ns, word(s.name), word(jsonText([]op{{Op: "remove", Path: "/spec/schedulingGates"}})))}
	case fit.AddNode:
		return addNode(e.Shape)
	}
	return nil
}

func pairs(labels map[string]string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, word(k+"="+labels[k]))
	}
	return strings.Join(out, " ")
}

// lower writes the requests of containers, or of the pod as a whole.
func (s subject) lower(e fit.Edit) []string {
	what := fmt.Sprintf("lower its request for %s to %s", e.Resource, quantity(e.Resource, e.To))
	obj, _, ok := s.object()
	if !ok {
		return s.remake(what)
	}
	var out []string
	for _, c := range append([]fit.Cut{{Container: e.Container, From: e.From, To: e.To}}, e.More...) {
		set := e.Resource + "=" + quantity(e.Resource, c.To)
		if c.Container == "" {
			out = append(out, s.patch(what, op{"replace", "/resources/requests/" + pointer(e.Resource), quantity(e.Resource, c.To)})...)
			continue
		}
		args := "--requests=" + word(set)
		// Of what cannot be overcommitted the limit is the request.
		if strings.Contains(e.Resource, "/") || strings.HasPrefix(e.Resource, corev1.ResourceHugePagesPrefix) {
			args = "--limits=" + word(set) + " " + args
		}
		out = append(out, fmt.Sprintf("kubectl -n %s set resources %s -c %s %s", s.ns, obj, word(c.Container), args))
	}
	return out
}

// quantity writes an amount as Kubernetes reads it, rounded down to what is easy
// to type where that loses less than a hundredth.
func quantity(name string, n int64) string {
	switch {
	case name == string(corev1.ResourceCPU):
		return resource.NewMilliQuantity(n, resource.DecimalSI).String()
	case name == string(corev1.ResourceMemory), name == string(corev1.ResourceEphemeralStorage), strings.HasPrefix(name, corev1.ResourceHugePagesPrefix):
		for _, u := range []struct {
			size int64
			name string
		}{{1 << 30, "Gi"}, {1 << 20, "Mi"}, {1 << 10, "Ki"}} {
			if n%u.size == 0 && n > 0 || n/u.size >= 100 {
				return fmt.Sprintf("%d%s", n/u.size, u.name)
			}
		}
	}
	return fmt.Sprint(n)
}

func (s subject) tolerate(e fit.Edit) []string {
	if e.Taint == nil {
		return nil
	}
	t := map[string]string{"key": e.Taint.Key, "operator": "Exists", "effect": e.Taint.Effect}
	if e.Taint.Value != "" {
		t["operator"], t["value"] = "Equal", e.Taint.Value
	}
	what := "add a toleration of the taint " + e.Taint.Key
	has := s.pod != nil && slices.ContainsFunc(s.pod.Spec.Tolerations, func(x corev1.Toleration) bool {
		return x.Key != corev1.TaintNodeNotReady && x.Key != corev1.TaintNodeUnreachable // those of every pod, which its template does not have
	})
	o := op{"add", "/tolerations", []any{t}}
	if has {
		o = op{"add", "/tolerations/-", t}
	}
	if _, _, ok := s.object(); !ok && s.owner.Kind == "" {
		// A pod may be given tolerations while it waits. It always has some.
		return []string{fmt.Sprintf("kubectl -n %s patch pod %s --type=json -p %s", s.ns, word(s.name), word(jsonText([]op{{"add", "/spec/tolerations/-", t}})))}
	}
	return s.patch(what, o)
}

func driverOf(e fit.Edit) string {
	if e.Volume == nil {
		return ""
	}
	return e.Volume.Driver
}

// ownVolume reports whether a claim is that of one of the pod's own volumes, which
// the controller manager makes.
func (s subject) ownVolume(e fit.Edit) bool {
	return s.pod != nil && e.Volume != nil && slices.ContainsFunc(s.pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == e.Volume.Name && v.Ephemeral != nil })
}

// spread changes the one thing of a spread constraint that the edit is about.
func (s subject) spread(e fit.Edit) []string {
	path := fmt.Sprintf("/topologySpreadConstraints/%d", e.Index)
	switch {
	case e.MaxSkew > 0:
		return s.patch(fmt.Sprintf("set maxSkew to %d", e.MaxSkew), op{"replace", path + "/maxSkew", e.MaxSkew})
	case e.MinDomains > 0:
		return s.patch(fmt.Sprintf("set minDomains to %d", e.MinDomains), op{"replace", path + "/minDomains", e.MinDomains})
	case e.TaintsPolicy != "":
		return s.patch("set nodeTaintsPolicy to "+e.TaintsPolicy, op{"add", path + "/nodeTaintsPolicy", e.TaintsPolicy})
	case e.AffinityPolicy != "":
		return s.patch("set nodeAffinityPolicy to "+e.AffinityPolicy, op{"add", path + "/nodeAffinityPolicy", e.AffinityPolicy})
	}
	ops := []op{{"replace", path + "/whenUnsatisfiable", "ScheduleAnyway"}}
	what := "set whenUnsatisfiable to ScheduleAnyway"
	if s.pod != nil && e.Index < len(s.pod.Spec.TopologySpreadConstraints) && s.pod.Spec.TopologySpreadConstraints[e.Index].MinDomains != nil {
		ops = append(ops, op{Op: "remove", Path: path + "/minDomains"}) // which a wish may not have
		what += ", and take out minDomains"
	}
	return s.patch(what, ops...)
}

// dropPort takes a host port off the container that has it. By name: containers of
// others may stand between those of the template.
func (s subject) dropPort(e fit.Edit) []string {
	what := fmt.Sprintf("take out hostPort %d", e.Port.Port)
	obj, _, ok := s.object()
	if !ok || s.pod == nil {
		return s.remake(what)
	}
	for _, list := range []struct {
		name string
		of   []corev1.Container
	}{{"initContainers", s.pod.Spec.InitContainers}, {"containers", s.pod.Spec.Containers}} {
		for _, c := range list.of {
			for _, p := range c.Ports {
				if c.Name != e.Container || p.HostPort != e.Port.Port || p.Protocol != "" && string(p.Protocol) != e.Port.Protocol {
					continue
				}
				port := map[string]any{"containerPort": p.ContainerPort, "protocol": e.Port.Protocol, "hostPort": nil}
				return []string{fmt.Sprintf("kubectl -n %s patch %s -p %s", s.ns, obj, word(jsonText(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
					list.name: []any{map[string]any{"name": c.Name, "ports": []any{port}}}}}}})))}
			}
		}
	}
	return s.remake(what)
}

func (s subject) freeDevices(e fit.Edit) []string {
	if e.Self {
		return nil
	}
	out := s.stop(e)
	if len(e.Pods) == 0 {
		for _, c := range e.Claims {
			out = append(out, fmt.Sprintf("kubectl -n %s delete resourceclaim %s", word(c.Namespace), word(c.Name)))
		}
	}
	return out
}

// stop stops pods that are in the way.
func (s subject) stop(e fit.Edit) []string {
	if e.Self {
		return nil // the scheduler does it
	}
	var out []string
	for _, p := range e.Pods {
		out = append(out, fmt.Sprintf("kubectl -n %s delete pod %s", word(p.Namespace), word(p.Name)))
	}
	return out
}

// create makes what is missing. A claim's size, and what is behind a volume, only
// its owner knows.
func (s subject) create(e fit.Edit) []string {
	v := e.Volume
	if v == nil {
		v = &fit.VolumeRef{}
	}
	name := e.Object.Name
	switch {
	case e.Kind == fit.CreateClaim && s.ownVolume(e):
		return []string{"kubectl -n kube-system get pods -l component=kube-controller-manager -o wide   # does it work", fmt.Sprintf("kubectl -n %s get events --field-selector involvedObject.name=%s", s.ns, word(s.name))}
	case e.Kind == fit.CreateClass && e.Object.Kind == fit.DeviceClasses:
		return []string{"kubectl get deviceclasses   # which there are; " + word(name) + " is missing"}
	case e.Kind == fit.CreateClass && v.Driver == "":
		return []string{"kubectl get storageclasses   # which there are; " + word(name) + " is missing"}
	case e.Kind == fit.CreateClass:
		return []string{apply(map[string]any{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": map[string]any{"name": name},
			"provisioner": v.Driver, "volumeBindingMode": "WaitForFirstConsumer"})}
	case e.Kind == fit.CreateVolume:
		where := ""
		if e.Node != "" {
			where = ", usable on " + e.Node
		}
		return []string{fmt.Sprintf("kubectl get persistentvolumes   # which there are; create one of at least %s%s%s", bytesOr(v.Requested, "what the claim asks for"), ofClass(v.Class), where)}
	}
	spec := map[string]any{"accessModes": []string{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}
	if v.Class != "" {
		spec["storageClassName"] = v.Class
	}
	return []string{apply(map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim",
		"metadata": map[string]any{"name": name, "namespace": e.Object.Namespace}, "spec": spec}) + "   # of the size that it needs"}
}

func apply(object map[string]any) string {
	return "echo " + word(jsonText(object)) + " | kubectl apply -f -"
}

func bytesOr(n int64, otherwise string) string {
	if n <= 0 {
		return otherwise
	}
	return quantity("memory", n)
}

func ofClass(c string) string {
	if c == "" {
		return ""
	}
	return " of class " + c
}

// terms are where the terms of affinity stand in a pod.
var terms = map[string]string{
	"nodeAffinity":    "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution",
	"podAffinity":     "/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution",
	"podAntiAffinity": "/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution",
}

func (s subject) relax(e fit.Edit) []string {
	path, ok := terms[e.Of]
	switch {
	case len(e.Terms) > 0:
		var out []string
		for _, t := range e.Terms {
			out = append(out, fmt.Sprintf("kubectl -n %s get pod %s -o jsonpath='{.metadata.ownerReferences[0].kind} {.metadata.ownerReferences[0].name}: {.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[%d]}{\"\\n\"}'   # in whose template to take this term out",
				word(t.Pod.Namespace), word(t.Pod.Name), t.Index))
		}
		return out
	case e.Of == "existingPodAntiAffinity":
		return []string{fmt.Sprintf("kubectl -n %s get pod %s -o jsonpath='{.spec.affinity.podAntiAffinity}'   # whose term keeps this pod away; relax it in its owner", word(e.Object.Namespace), word(e.Object.Name))}
	case !ok:
		return nil // of the scheduler's configuration
	case e.Of == "nodeAffinity" && len(e.Expressions) > 0:
		var ops []op
		for _, j := range slices.Backward(e.Expressions) { // the last first: the places of the others stay
			ops = append(ops, op{Op: "remove", Path: fmt.Sprintf("%s/nodeSelectorTerms/%d/matchExpressions/%d", path, e.Index, j)})
		}
		return s.patch("take out of the required node affinity what the change names", ops...)
	case e.Of == "nodeAffinity":
		// Its terms are alternatives: to drop one of several demands more.
		return s.patch("take out the required node affinity", op{Op: "remove", Path: path})
	}
	return s.patch("take out term "+fmt.Sprint(e.Index)+" of the required "+e.Of, op{Op: "remove", Path: fmt.Sprintf("%s/%d", path, e.Index)})
}

func addNode(sh *fit.Shape) []string {
	if sh == nil {
		return nil
	}
	var wants []string
	for _, r := range slices.Sorted(maps.Keys(sh.Allocatable)) {
		wants = append(wants, fmt.Sprintf("%s %s", r, quantity(r, sh.Allocatable[r])))
	}
	for _, d := range sh.Drivers {
		wants = append(wants, "the CSI driver "+d)
	}
	for _, f := range sh.Features {
		wants = append(wants, "the feature "+f)
	}
	if sh.Like != "" {
		wants = append(wants, "devices like those of node "+sh.Like)
	}
	s := "# a node with at least " + strings.Join(wants, ", ")
	if len(sh.Labels) > 0 {
		s += ", labelled " + pairs(sh.Labels)
	}
	return []string{s}
}
