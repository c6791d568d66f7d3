package evidence

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ktriage/ktriage/collectors/objects"
)

// errTable is of a table whose columns hold too little to judge by.
var errTable = errors.New("a table of this kind holds too little to judge by; use kubectl get -o yaml")

// readKubeTable reads what kubectl get prints of pods, nodes and events. Its
// columns begin where their names do.
func (e *Evidence) readKubeTable(in *input, text string) error {
	var header []column
	read := 0
	for _, line := range lines(text) {
		if kubeHeader.MatchString(line) {
			header = columns(line)
			continue
		}
		row := cells(header, line)
		var err error
		switch {
		case row["LAST SEEN"] != "" && row["OBJECT"] != "":
			err = e.eventRow(in, row)
		case row["READY"] != "" && row["STATUS"] != "" && row["RESTARTS"] != "":
			err = e.podRow(in, row)
		case row["STATUS"] != "" && row["VERSION"] != "" && row["AGE"] != "":
			err = e.nodeRow(in, row)
		default:
			continue
		}
		if err != nil {
			return err
		}
		read++
	}
	if read == 0 {
		return errTable
	}
	return nil
}

type column struct {
	name  string
	start int
}

var columnName = regexp.MustCompile(`[A-Z]\S*( [A-Z(]\S*)*`)

func columns(header string) []column {
	var out []column
	for _, m := range columnName.FindAllStringIndex(header, -1) {
		out = append(out, column{header[m[0]:m[1]], m[0]})
	}
	return out
}

func cells(header []column, line string) map[string]string {
	out := map[string]string{}
	for i, c := range header {
		if c.start >= len(line) {
			break
		}
		end := len(line)
		if i+1 < len(header) {
			end = min(end, header[i+1].start)
		}
		out[c.name] = clip(strings.TrimSpace(line[c.start:end]))
	}
	return out
}

// podRow keeps a pod that is pending. Why it is, only its events tell: see
// explain.
func (e *Evidence) podRow(in *input, row map[string]string) error {
	age, ok := parseAge(row["AGE"])
	if !ok || row["STATUS"] != "Pending" && row["STATUS"] != "SchedulingGated" {
		return nil
	}
	k, _ := objects.Of("v1", "Pod")
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: row["NAME"], Namespace: row["NAMESPACE"]}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	return e.add(k, &object{Object: p, file: in.name, age: age, bare: true, rank: in.rank})
}

func (e *Evidence) nodeRow(in *input, row map[string]string) error {
	age, ok := parseAge(row["AGE"])
	if !ok {
		return nil
	}
	k, _ := objects.Of("v1", "Node")
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: row["NAME"], Labels: map[string]string{}}}
	for r := range strings.SplitSeq(row["ROLES"], ",") {
		if r != "" && r != "<none>" {
			n.Labels["node-role.kubernetes.io/"+r] = ""
		}
	}
	ready := corev1.ConditionUnknown
	for s := range strings.SplitSeq(row["STATUS"], ",") {
		switch s {
		case "Ready":
			ready = corev1.ConditionTrue
		case "NotReady":
			ready = corev1.ConditionFalse
		case "SchedulingDisabled":
			n.Spec.Unschedulable = true
		}
	}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
	n.Status.NodeInfo.KubeletVersion, n.Status.NodeInfo.OSImage = row["VERSION"], row["OS-IMAGE"]
	if ip := row["INTERNAL-IP"]; ip != "" && ip != "<none>" {
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}}
	}
	return e.add(k, &object{Object: n, file: in.name, age: age, bare: true, rank: in.rank})
}

func (e *Evidence) eventRow(in *input, row map[string]string) error {
	age, ok := parseAge(row["LAST SEEN"])
	kind, name, named := strings.Cut(row["OBJECT"], "/")
	if !ok || !named {
		return nil
	}
	k, _ := objects.Of("v1", "Event")
	ev := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: row["NAMESPACE"], Name: name + "." + row["REASON"] + "." + strconv.Itoa(len(e.held("v1", "Event")))},
		InvolvedObject: corev1.ObjectReference{Kind: strings.ToUpper(kind[:min(1, len(kind))]) + kind[min(1, len(kind)):], Namespace: row["NAMESPACE"], Name: name},
		Type:           row["TYPE"], Reason: row["REASON"], Message: row["MESSAGE"],
	}
	return e.add(k, &object{Object: ev, file: in.name, age: age, bare: true, rank: in.rank})
}

// explain gives pods of which only a table tells the scheduler's last word on
// them, from the events. Of one without, it cannot be said who has to act, and
// it is left out.
func (e *Evidence) explain() {
	h := e.objects["v1/Pod"]
	if h == nil {
		return
	}
	whole := map[string]*object{} // by name, for tables of one namespace, which do not name it
	for _, o := range h.items {
		if !o.bare {
			whole[o.GetName()] = o
		}
	}
	said := map[string]*corev1.Event{}
	for _, o := range e.held("v1", "Event") {
		ev, ok := o.Object.(*corev1.Event)
		if !ok || ev.Reason != "FailedScheduling" || ev.InvolvedObject.Kind != "Pod" {
			continue
		}
		name := ev.InvolvedObject.Namespace + "/" + ev.InvolvedObject.Name
		if before := said[name]; before == nil || lastSeen(ev).After(lastSeen(before)) {
			said[name] = ev
		}
	}
	h.items = slices.DeleteFunc(h.items, func(o *object) bool {
		p, ok := o.Object.(*corev1.Pod)
		if !ok || !o.bare || len(p.Status.Conditions) > 0 {
			return false
		}
		if w := whole[p.Name]; w != nil && p.Namespace == "" {
			if w.GetCreationTimestamp().Time.IsZero() {
				w.setCreated(p.CreationTimestamp.Time)
			}
			return true
		}
		ev := said[p.Namespace+"/"+p.Name]
		if ev == nil {
			e.skip(o.file, "in part: why the pod "+p.Namespace+"/"+p.Name+" is pending only its events or -o yaml tell")
			return true
		}
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: ev.Message, LastTransitionTime: ev.FirstTimestamp,
		}}
		return false
	})
	if len(h.items) == 0 {
		delete(e.objects, "v1/Pod")
	}
}

func lastSeen(ev *corev1.Event) time.Time {
	if !ev.LastTimestamp.IsZero() {
		return ev.LastTimestamp.Time
	}
	if !ev.EventTime.IsZero() {
		return ev.EventTime.Time
	}
	return ev.CreationTimestamp.Time
}

var agePart = regexp.MustCompile(`(\d+)([ydhms])`)

// parseAge reads an age as kubectl writes it: "5d3h", "73m", "2m3s (x4 over 1h)".
func parseAge(s string) (time.Duration, bool) {
	s, _, _ = strings.Cut(s, " ")
	unit := map[string]time.Duration{"y": 365 * 24 * time.Hour, "d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}
	var d time.Duration
	rest := s
	for rest != "" {
		m := agePart.FindStringSubmatchIndex(rest)
		if m == nil || m[0] != 0 {
			return 0, false
		}
		n, err := strconv.Atoi(rest[m[2]:m[3]])
		if err != nil || n > 100_000 {
			return 0, false
		}
		d += time.Duration(n) * unit[rest[m[4]:m[5]]]
		rest = rest[m[1]:]
	}
	return d, s != ""
}

// readHealth reads what a health endpoint says with ?verbose.
func (e *Evidence) readHealth(in *input, b []byte) error {
	x := &report{file: in.name, of: "kube-apiserver", path: "/readyz", code: 200, body: b}
	told := false
	for _, line := range lines(string(b)) {
		for _, path := range [...]string{"readyz", "livez", "healthz"} {
			if strings.HasPrefix(line, path+" check ") {
				x.path = "/" + path
			}
		}
		if strings.HasPrefix(line, "[-]") {
			x.code = 500
		}
		told = told || strings.Contains(line, "]poststarthook/") || strings.HasPrefix(line, "[+]etcd ") || strings.HasPrefix(line, "[-]etcd ")
	}
	if !told {
		return errors.New("it is a health report, and does not say of which component")
	}
	e.reports = append(e.reports, x)
	return nil
}
