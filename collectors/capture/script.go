package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Script is a Source for tests, written as a txtar archive. Each file is one
// reply; its name is verb and URL of the request, and " #first" or " #last"
// where the two looks differ:
//
//	-- get kube:/version --
//	{"gitVersion": "v1.37.2"}
//	-- scrape pod+http://cp-1@kube-system/etcd-cp-1:2381/metrics #last --
//	etcd_server_has_leader 1
//	-- list kube:/api/v1/nodes --
//	YAML documents, one an object
//	-- call etcd://10.0.0.1:2379/maintenance/status --
//	gap: forbidden: what came back
//
// A body that begins with "status: 500" answers with that status, one that
// begins with "elapsed: 1.5s" took that long, and one that begins with "cert:
// 2026-02-01T00:00:00Z CN=x" came by TLS with a certificate that ends then; a
// line of its own each. What is
// not in the script is a gap.
type Script struct {
	At     time.Time     // of the first look, and of the server's clock
	Window time.Duration // until the last look
	files  map[string][]byte
}

// NewScript reads archives; a file of a later one replaces that of an earlier.
func NewScript(at time.Time, window time.Duration, archives ...*txtar.Archive) *Script {
	s := &Script{At: at, Window: window, files: map[string][]byte{}}
	for _, a := range archives {
		for _, f := range a.Files {
			s.files[f.Name] = f.Data
		}
	}
	return s
}

// Fetch answers from the script, by the first of the request's URLs that is in it.
func (s *Script) Fetch(ctx context.Context, r collectors.Request) (*collectors.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var gap *collectors.Gap
	for _, u := range append([]string{r.URL}, r.Or...) {
		body, ok := s.file(r, u)
		if !ok {
			continue
		}
		if rest, ok := bytes.CutPrefix(body, []byte("gap: ")); ok {
			reason, detail, _ := strings.Cut(strings.TrimSpace(string(rest)), ": ")
			gap = &collectors.Gap{Reason: collectors.Reason(reason), Detail: detail}
			continue
		}
		return s.reply(r, u, body)
	}
	if gap != nil {
		return nil, gap
	}
	return nil, collectors.Gapf(collectors.NotAsked, "%s is not in the script", r.Key())
}

func (s *Script) file(r collectors.Request, url string) ([]byte, bool) {
	name := string(r.Verb) + " " + url
	switch r.Sample {
	case collectors.First:
		if b, ok := s.files[name+" #first"]; ok {
			return b, true
		}
	case collectors.Last:
		if b, ok := s.files[name+" #last"]; ok {
			return b, true
		}
	}
	if strings.HasPrefix(url, "config:") { // its query only carries hints
		name, _, _ = strings.Cut(name, "?")
	}
	b, ok := s.files[name]
	return b, ok
}

func (s *Script) reply(r collectors.Request, url string, body []byte) (*collectors.Reply, error) {
	rep := &collectors.Reply{At: s.At, Date: s.At, Elapsed: time.Millisecond, Status: 200, From: url, Media: objects.JSON}
	if r.Sample == collectors.Last {
		rep.At, rep.Date = s.At.Add(s.Window), s.At.Add(s.Window)
	}
	for {
		line, rest, _ := bytes.Cut(body, []byte("\n"))
		if v, ok := bytes.CutPrefix(line, []byte("status: ")); ok {
			if _, err := fmt.Sscan(string(v), &rep.Status); err != nil {
				return nil, fmt.Errorf("script: %q: %w", line, err)
			}
		} else if v, ok := bytes.CutPrefix(line, []byte("elapsed: ")); ok {
			d, err := time.ParseDuration(string(bytes.TrimSpace(v)))
			if err != nil {
				return nil, fmt.Errorf("script: %q: %w", line, err)
			}
			rep.Elapsed = d
		} else if v, ok := bytes.CutPrefix(line, []byte("cert: ")); ok {
			until, subject, _ := strings.Cut(string(bytes.TrimSpace(v)), " ")
			t, err := time.Parse(time.RFC3339, until)
			if err != nil {
				return nil, fmt.Errorf("script: %q: %w", line, err)
			}
			rep.Cert = &collectors.Cert{Subject: subject, NotAfter: t}
		} else {
			break
		}
		body = rest
	}
	if r.Verb == collectors.List {
		_, path, _ := strings.Cut(r.URL, ":")
		kind, ok := objects.ForPath(path)
		if !ok {
			return nil, fmt.Errorf("script: no kind for %s", r.URL)
		}
		list, err := yamlList(kind, body)
		if err != nil {
			return nil, err
		}
		body = list
	}
	rep.Body = io.NopCloser(bytes.NewReader(body))
	return rep, nil
}

// yamlList makes a JSON list of YAML documents.
func yamlList(kind objects.Kind, body []byte) ([]byte, error) {
	list := map[string]any{"kind": kind.Name + "List", "apiVersion": kind.APIVersion}
	items := []json.RawMessage{}
	for doc := range strings.SplitSeq("\n"+string(body), "\n---") {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		b, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			return nil, fmt.Errorf("script: %w", err)
		}
		items = append(items, b)
	}
	list["items"] = items
	return json.Marshal(list)
}
