package evidence

import (
	"errors"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ktriage/ktriage/collectors/objects"
)

// describedEvent is a line of the events that kubectl describe ends with:
// type, reason, age, where from, message.
var describedEvent = regexp.MustCompile(`^\s*(Normal|Warning)\s+(\w+)\s+(\d\w*)(?: \(x\d+ over (\w+)\))?\s+(\S+)\s{1,}(.+)$`)

var (
	describedName = regexp.MustCompile(`(?m)^Name: +\S`)
	describedNode = regexp.MustCompile(`(?m)^\s+Kubelet Version:\s+v`)
	describedKey  = regexp.MustCompile(`^([A-Z][\w .-]*): *(.*)$`)
)

// readDescribe reads kubectl describe of a pod, or the events that were cut
// out of one. Of a pod that is pending the last FailedScheduling is the
// scheduler's word on it: describe shows what is.
func (e *Evidence) readDescribe(in *input, text string) error {
	if describedNode.MatchString(text) {
		return e.readDescribedNode(in, text)
	}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: stem(in.name)}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	isPod, node, age := false, "", time.Duration(-1)
	var said *corev1.PodCondition
	for _, line := range lines(text) {
		if m := describedEvent.FindStringSubmatch(line); m != nil && m[2] == "FailedScheduling" {
			isPod = true
			since := m[3]
			if m[4] != "" {
				since = m[4]
			}
			if d, ok := parseAge(since); ok {
				age = max(age, d)
			}
			said = &corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: m[6]}
			continue
		}
		m := describedKey.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		v := clip(strings.TrimSpace(m[2]))
		switch m[1] {
		case "Name":
			p.Name = v
		case "Namespace":
			p.Namespace = v
		case "Node":
			node = v
		case "Status":
			p.Status.Phase = corev1.PodPhase(v)
		case "Containers", "Init Containers", "Node-Selectors":
			isPod = true
		}
	}
	switch {
	case !isPod:
		return errors.New("it describes nothing that can be judged from a description; use kubectl get -o yaml")
	case p.Status.Phase != corev1.PodPending || node != "" && node != "<none>":
		return nil // it has a place to run
	case said == nil:
		return errors.New("it describes a pending pod, without the events that tell why")
	}
	p.Status.Conditions = []corev1.PodCondition{*said}
	k, _ := objects.Of("v1", "Pod")
	return e.add(k, &object{Object: p, file: in.name, age: age, bare: true, rank: in.rank})
}

// describedCondition is a line of the conditions of a node: type, status, two
// times, reason, message.
var describedCondition = regexp.MustCompile(`^\s+(Ready|MemoryPressure|DiskPressure|PIDPressure|NetworkUnavailable)\s+(True|False|Unknown)\s+(\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [-+]\d{4})\s+(\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [-+]\d{4})\s+(\S+)\s+(.*)$`)

// readDescribedNode reads kubectl describe of nodes, one after the other.
func (e *Evidence) readDescribedNode(in *input, text string) error {
	k, _ := objects.Of("v1", "Node")
	var n *corev1.Node
	end := func() error {
		if n == nil || len(n.Status.Conditions) == 0 {
			return nil
		}
		return e.add(k, &object{Object: n, file: in.name, age: -1, bare: true, rank: in.rank})
	}
	for _, line := range lines(text) {
		if m := describedKey.FindStringSubmatch(line); m != nil {
			v := clip(strings.TrimSpace(m[2]))
			switch m[1] {
			case "Name":
				if err := end(); err != nil {
					return err
				}
				n = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: v, Labels: map[string]string{}}}
			case "Roles":
				for r := range strings.SplitSeq(v, ",") {
					if n != nil && r != "" && r != "<none>" {
						n.Labels["node-role.kubernetes.io/"+r] = ""
					}
				}
			case "CreationTimestamp":
				if t, err := time.Parse(time.RFC1123Z, v); err == nil && n != nil {
					n.CreationTimestamp = metav1.NewTime(t)
				}
			case "Unschedulable":
				if n != nil {
					n.Spec.Unschedulable = v == "true"
				}
			}
			continue
		}
		if n == nil {
			continue
		}
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "Kubelet Version:"); ok {
			n.Status.NodeInfo.KubeletVersion = clip(strings.TrimSpace(rest))
		}
		if m := describedCondition.FindStringSubmatch(line); m != nil {
			beat, err1 := time.Parse(time.RFC1123Z, m[3])
			since, err2 := time.Parse(time.RFC1123Z, m[4])
			if errors.Join(err1, err2) != nil {
				continue
			}
			e.saw(beat)
			e.saw(since)
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{
				Type: corev1.NodeConditionType(m[1]), Status: corev1.ConditionStatus(m[2]), Reason: m[5], Message: clip(m[6]),
				LastHeartbeatTime: metav1.NewTime(beat), LastTransitionTime: metav1.NewTime(since),
			})
		}
	}
	if n == nil || len(n.Status.Conditions) == 0 {
		return errors.New("it describes a node without its conditions")
	}
	return end()
}
