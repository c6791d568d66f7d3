package logs

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// Bounds are how much of each log a run reads.
type Bounds struct {
	Lines        int `json:"lines"`
	SinceSeconds int `json:"sinceSeconds"`
	Bytes        int `json:"bytes"`
}

// wants is how much of the logs of the control plane's pods the run was told to
// read.
var wants = &collectors.Fact[Bounds]{
	ID:      "logs.wanted",
	Doc:     "how much of the control plane's logs the run is to read",
	Targets: collectors.Single(cluster.Self),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: "config:/logs"}}
	},
	Partial: true,
	Read: func(rs []collectors.Answered) (b Bounds, err error) {
		if rs[0].Gap != nil {
			return b, collectors.Gapf(collectors.OutOfScope, "no logs were asked for")
		}
		if err := json.Unmarshal(rs[0].Body, &b); err != nil {
			return b, err
		}
		if b.Lines <= 0 {
			return b, collectors.Gapf(collectors.OutOfScope, "no logs were asked for")
		}
		return b, nil
	},
}

// before marks the log of the container that ran before the present one.
const before = ", before its restart"

// ofPods is what the logs of the control plane's pods say, and those of their
// containers before the last restart.
var ofPods = &collectors.Fact[Log]{
	ID:    "logs.pods",
	Doc:   "what the log of each pod of the control plane says, and that of its container before the last restart",
	Needs: []collectors.Any{wants, cluster.Instances},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		b, gap := wants.One(s)
		if gap != nil {
			return nil, gap
		}
		all, gap := cluster.Instances.One(s)
		if gap != nil {
			return nil, gap
		}
		var out []collectors.Target
		for _, i := range all {
			if i.Loose {
				continue
			}
			q := url.Values{
				"container": {string(i.Role)}, "timestamps": {"true"}, "tailLines": {strconv.Itoa(b.Lines)},
				"sinceSeconds": {strconv.Itoa(b.SinceSeconds)}, "limitBytes": {strconv.Itoa(b.Bytes)},
			}
			path := "kube:/api/v1/namespaces/" + url.PathEscape(i.Namespace) + "/pods/" + url.PathEscape(i.Pod) + "/log?"
			t := collectors.Target{Component: components[i.Role], Name: name(i), Node: i.Node, Addr: path + q.Encode()}
			out = append(out, t)
			if i.Restarts > 0 {
				q.Set("previous", "true")
				t.Name, t.Addr = t.Name+before, path+q.Encode()
				out = append(out, t)
			}
		}
		return out, nil
	},
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: t.Addr}}
	},
	Read: func(rs []collectors.Answered) (Log, error) {
		a := rs[0]
		if a.Status >= 400 {
			return Log{}, collectors.Gapf(collectors.ServerError, "the log was answered with %d", a.Status)
		}
		pod, container, previous := logOf(a.From)
		r := NewReader(container + " " + pod)
		for line := range bytes.Lines(a.Body) {
			r.Add(bytes.TrimRight(line, "\r\n"))
		}
		l := r.Log()
		l.Name = pod
		if previous {
			l.Name += before
		}
		if l.Role == "" {
			l.Role = cluster.Role(container)
		}
		l.At = a.At
		if !a.Date.IsZero() {
			l.At = a.Date
		}
		l.Date(l.At)
		return l, nil
	},
}

// components are whose findings a log's are.
var components = map[cluster.Role]collectors.Component{
	cluster.RoleEtcd: collectors.Etcd, cluster.RoleAPIServer: collectors.APIServer, cluster.RoleScheduler: collectors.Scheduler,
	cluster.RoleControllers: collectors.Controllers, cluster.RoleCloudController: collectors.Controllers,
}

// roleOf is whose log a target is.
func roleOf(t collectors.Target) cluster.Role {
	_, container, _ := logOf(t.Addr)
	return cluster.Role(container)
}

// name is what other facts call the instance.
func name(i cluster.Instance) string {
	if n := i.Flag("name", ""); i.Role == cluster.RoleEtcd && n != "" && !strings.ContainsAny(n, "$(){}") {
		return n
	}
	return i.Name()
}

// logOf takes apart the URL of a log.
func logOf(u string) (pod, container string, previous bool) {
	p, err := url.Parse(u)
	if err != nil {
		return "", "", false
	}
	_, rest, _ := strings.Cut(p.Path, "/pods/")
	return strings.TrimSuffix(rest, "/log"), p.Query().Get("container"), p.Query().Get("previous") == "true"
}

// Default returns bounds that are enough for what happened within the hour, and
// that a sick API server bears: each log comes from its kubelet through it.
func Default() Bounds {
	return Bounds{Lines: 2000, SinceSeconds: int(time.Hour / time.Second), Bytes: 2 << 20}
}
