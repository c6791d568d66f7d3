package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors/events"
	"github.com/ktriage/ktriage/remediate"
)

// eventsAPage is how many Events are asked for at a time. Each is some kilobytes
// at most, in practice.
const eventsAPage = 250

// pruned counts what became of Events.
type pruned struct{ deleted, gone, changed int }

func (p pruned) outcome(saved string) remediate.Outcome {
	o := remediate.Outcome{remediate.OutDeleted: strconv.Itoa(p.deleted), "gone before": strconv.Itoa(p.gone), "changed since": strconv.Itoa(p.changed)}
	if p.deleted > 0 {
		o["saved"] = saved
	}
	return o
}

// pruneEvents deletes old Events of a namespace, after it saved them, and only
// those that are still as they were saved. It stops at the first answer by which
// the API server asks for less.
func (k *Kube) pruneEvents(ctx context.Context, x remediate.Action) (remediate.Outcome, error) {
	ns := x.Args[remediate.ArgNamespace]
	f := events.Filter{Namespaces: []string{ns}}
	var err error
	if f.Before, err = time.Parse(time.RFC3339, x.Args[remediate.ArgBefore]); err != nil || ns == "" {
		return nil, notDone("%q in %q is no time in a namespace", x.Args[remediate.ArgBefore], ns)
	}
	if r := x.Args[remediate.ArgReasons]; r != "" {
		f.Reasons = strings.Split(r, ",")
	}
	limit, err1 := strconv.Atoi(x.Args[remediate.ArgLimit])
	rate, err2 := strconv.Atoi(x.Args[remediate.ArgRate])
	if err1 != nil || err2 != nil || limit <= 0 || rate <= 0 {
		return nil, notDone("%q at %q a second are no numbers", x.Args[remediate.ArgLimit], x.Args[remediate.ArgRate])
	}
	var n pruned
	saved := x.Args[remediate.ArgSaved]
	path := "/api/v1/namespaces/" + url.PathEscape(ns) + "/events"
	pace := time.NewTicker(time.Second / time.Duration(rate))
	defer pace.Stop()
	for token, again := "", false; ; {
		page, err := k.eventsPage(ctx, path, token)
		if isCode(err, http.StatusGone) && !again {
			token, again = "", true // the list went on for longer than etcd keeps history
			continue
		}
		if err != nil {
			return n.end(saved, true, fmt.Errorf("list events of %s: %w", ns, err))
		}
		again = false
		var meant []foundEvent
		for _, raw := range page.Items {
			e := foundEvent{raw: raw}
			if err := json.Unmarshal(raw, &e.Event); err != nil {
				return n.end(saved, true, fmt.Errorf("read an event of %s: %w", ns, err))
			}
			if len(meant) < limit-n.deleted && f.Matches(&e.Event) {
				meant = append(meant, e)
			}
		}
		if err := appendObjects(saved, meant); err != nil {
			return n.end(saved, true, fmt.Errorf("save events of %s: %w", ns, err))
		}
		for _, e := range meant {
			<-pace.C
			if err := k.deleteEvent(ctx, path, e, &n); err != nil {
				return n.end(saved, isRefused(err), err)
			}
		}
		token = page.Metadata.Continue
		if token == "" || n.deleted >= limit {
			return n.outcome(saved), nil
		}
	}
}

// end is how it ends with an error: with none deleted, and the last one surely
// not, nothing was done.
func (p pruned) end(saved string, sure bool, err error) (remediate.Outcome, error) {
	if p.deleted == 0 && sure {
		return nil, &remediate.NotDone{Err: err}
	}
	return p.outcome(saved), fmt.Errorf("%w; %d were deleted", err, p.deleted)
}

func (k *Kube) deleteEvent(ctx context.Context, path string, e foundEvent, n *pruned) error {
	err := k.call(ctx, http.MethodDelete, path+"/"+url.PathEscape(e.Name), map[string]any{
		"kind": "DeleteOptions", "apiVersion": "v1",
		"preconditions": map[string]string{"uid": string(e.UID), "resourceVersion": e.ResourceVersion},
	}, nil)
	switch {
	case err == nil:
		n.deleted++
	case isCode(err, http.StatusNotFound):
		n.gone++
	case isCode(err, http.StatusConflict):
		n.changed++ // it occurred again
	case isCode(err, http.StatusTooManyRequests):
		return fmt.Errorf("the API server turns requests away: %w", err)
	default:
		return fmt.Errorf("delete event %s: %w", e.Name, err)
	}
	return nil
}

// A foundEvent is an Event, and the same as it came.
type foundEvent struct {
	corev1.Event
	raw []byte
}

type eventsPage struct {
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

func (k *Kube) eventsPage(ctx context.Context, path, token string) (p eventsPage, err error) {
	q := url.Values{"limit": {strconv.Itoa(eventsAPage)}}
	if token != "" {
		q.Set("continue", token)
	}
	return p, k.call(ctx, http.MethodGet, path+"?"+q.Encode(), nil, &p)
}

// appendObjects adds objects to a file, in the form in which kubectl takes them
// back, and returns when they are on the disk.
func appendObjects(path string, es []foundEvent) error {
	if len(es) == 0 {
		return nil
	}
	// It adds to a file that is there, so that the file must be one of these,
	// whatever a plan names.
	if name := filepath.Base(path); !strings.HasPrefix(name, "events-pruned-") || !strings.HasSuffix(name, ".json") {
		return fmt.Errorf("%q is no file for deleted Events", path)
	}
	var b bytes.Buffer
	for _, e := range es {
		o, err := bare(e.raw)
		if err != nil {
			return err
		}
		o["apiVersion"], o["kind"] = "v1", "Event" // items of a list come without
		if err := json.NewEncoder(&b).Encode(o); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(b.Bytes()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
