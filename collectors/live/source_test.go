package live

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

func TestOtherWaysAreTriedInOrder(t *testing.T) {
	hits := map[string]*atomic.Int64{"ok": {}, "broken": {}, "html": {}}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.Trim(r.URL.Path, "/")
		hits[name].Add(1)
		switch name {
		case "broken":
			w.WriteHeader(500)
		case "html":
			w.Header().Set("Content-Type", "text/html")
		}
	}))
	defer plain.Close()
	ok, broken, html := plain.URL+"/ok", plain.URL+"/broken", plain.URL+"/html"
	dead := "http://" + deadAddr(t) + "/metrics"
	kube, _ := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(403)
		w.Write([]byte(statusJSON(403, "not you")))
	})

	t.Run("the first that answers is it", func(t *testing.T) {
		reply, _, gap := fetch(t, kube, collectors.Request{Verb: collectors.Scrape, URL: "kube:/metrics", Or: []string{dead, broken, ok}})
		if gap != nil {
			t.Fatal(gap)
		}
		if reply.From != ok {
			t.Errorf("got an answer from %s, want %s", reply.From, ok)
		}
	})
	t.Run("if none does, all are told and the most promising remedied", func(t *testing.T) {
		_, _, gap := fetch(t, kube, collectors.Request{Verb: collectors.Scrape, URL: dead, Or: []string{"kube:/metrics", broken, "ftp://x/y"}})
		wantGap(t, gap, collectors.Forbidden, dead+": connection refused", "kube:/metrics at ", "not you", broken+": HTTP 500", "ftp://x/y: a live cluster cannot be asked", "--non-resource-url=/metrics")
	})
	t.Run("something strange ends the search", func(t *testing.T) {
		before := hits["ok"].Load()
		_, _, gap := fetch(t, kube, collectors.Request{Verb: collectors.Scrape, URL: html, Or: []string{ok}})
		wantGap(t, gap, collectors.Malformed, "web page")
		if hits["ok"].Load() != before {
			t.Error("the next way was tried")
		}
	})
	t.Run("the second look goes where the first was answered", func(t *testing.T) {
		before := hits["broken"].Load()
		r := collectors.Request{Verb: collectors.Scrape, URL: broken, Or: []string{ok}, Sample: collectors.First}
		for _, r.Sample = range []collectors.Sample{collectors.First, collectors.Last} {
			if reply, _, gap := fetch(t, kube, r); gap != nil || reply.From != ok {
				t.Fatalf("got %v, %v", reply, gap)
			}
		}
		if got := hits["broken"].Load() - before; got != 1 {
			t.Errorf("the way that failed was tried %d times, want once", got)
		}
	})
	t.Run("the second look finds another way if that fails", func(t *testing.T) {
		s := newSource(t, Config{})
		r := collectors.Request{Verb: collectors.Scrape, URL: ok, Or: []string{broken}}
		r.Sample = collectors.First
		s.looks.answered(r, time.Now(), broken)
		r.Sample = collectors.Last
		if reply, _, gap := fetch(t, s, r); gap != nil || reply.From != ok {
			t.Errorf("got %v, %v", reply, gap)
		}
	})
}

func TestUnknownSchemesAreNotAsked(t *testing.T) {
	s := newSource(t, Config{})
	for _, u := range []string{"file:/etc/passwd", "https://example.com/", "host:/x", "config:/nothing", "nonsense"} {
		_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: u})
		wantGap(t, gap, collectors.NotAsked, u)
	}
}
