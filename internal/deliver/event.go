package deliver

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
)

const (
	// Namespace is where Events about the control plane are.
	Namespace = "kube-system"
	// maxMessage bounds an Event's message in bytes; the API server's own bound is
	// 1024.
	maxMessage = 1000
	// MaxEvents is how many Events one run leaves. A cluster that has more news
	// than that is not helped by more writes.
	MaxEvents = 20
)

// Events are those that a run leaves: one for each problem that is news.
func Events(news []News, now time.Time) []*corev1.Event {
	var out []*corev1.Event
	for _, n := range news[:min(len(news), MaxEvents)] {
		reason := "ControlPlaneProblem"
		if n.Kind == report.Worse {
			reason = "ControlPlaneProblemWorse"
		}
		message, tail := fmt.Sprintf("%s: %s: %s", n.Status, n.Target, n.Summary), ""
		if k := len(n.Symptoms); k > 0 {
			tail += fmt.Sprintf(" (explains %s)", checks.Count(k, "other verdict"))
		}
		if n.Unsure {
			tail += "; it could not be judged by the run before, so it may be older"
		}
		if rest := len(news) - MaxEvents; rest > 0 && len(out) == MaxEvents-1 {
			tail += fmt.Sprintf("; %s more that are new have no Event", checks.Count(rest, "problem"))
		}
		tail += "; rule: ktriage explain " + cut(term.Clean(string(n.Check)), 80)
		message = cut(term.Clean(message), maxMessage-len(tail)) + tail
		t := metav1.NewTime(now)
		out = append(out, &corev1.Event{
			TypeMeta:       metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
			ObjectMeta:     metav1.ObjectMeta{GenerateName: "ktriage-", Namespace: Namespace},
			InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Namespace: Namespace, Name: Namespace},
			Reason:         reason, Message: message, Type: corev1.EventTypeWarning, FirstTimestamp: t, LastTimestamp: t, Count: 1,
			Source: corev1.EventSource{Component: "ktriage"},
		})
	}
	return out
}

// cut shortens text to so many bytes, between characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len("…")], "") + "…"
}
