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
	describedKey  = regexp.MustCompile(`^([A-Z][\w .-]*): *(.*)$`)
)

// readDescribe reads kubectl describe of a pod, or the events that were cut
// out of one. Of a pod that is pending the last FailedScheduling is the
// scheduler's word on it: describe shows what is.
func (e *Evidence) readDescribe(in *input, text string) error {
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
