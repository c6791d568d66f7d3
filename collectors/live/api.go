package live

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// acceptFor is what kind of body is asked for.
func acceptFor(r collectors.Request) string {
	switch r.Verb {
	case collectors.List:
		_, path, _ := strings.Cut(r.URL, ":")
		if k, ok := objects.ForPath(path); ok {
			return k.Accept()
		}
		return objects.JSON
	case collectors.Scrape:
		return "text/plain;version=0.0.4"
	}
	return "application/json, text/plain;q=0.9, */*;q=0.8"
}

// A throttled request is sent again at most retries times, after the time that
// the server named but at most maxRetryAfter.
const (
	retries       = 2
	maxRetryAfter = 2 * time.Second
)

// askKube answers kube:/path.
func (s *Source) askKube(ctx context.Context, a attempt, u *url.URL) (*collectors.Reply, *collectors.Gap) {
	k, gap := s.kube()
	if gap != nil {
		return nil, &collectors.Gap{Reason: gap.Reason, Detail: a.way + ": " + gap.Detail, Remedy: gap.Remedy}
	}
	target := *k.base
	target.Path = strings.TrimSuffix(k.base.Path, "/") + u.Path
	target.RawPath = ""
	if u.RawPath != "" {
		target.RawPath = strings.TrimSuffix(k.base.EscapedPath(), "/") + u.RawPath
	}
	target.RawQuery = u.RawQuery
	return s.askAPI(ctx, a, fmt.Sprintf("%s at %s", a.way, k.addr), k.breakerKey(), k.rt, &target)
}

// askAPI asks an API server, page by page if it is a list.
func (s *Source) askAPI(ctx context.Context, a attempt, who, addr string, rt http.RoundTripper, target *url.URL) (*collectors.Reply, *collectors.Gap) {
	page := a.Page
	resumed := false
	for throttled := 0; ; {
		u := *target
		if a.Verb == collectors.List {
			q := u.Query()
			q.Set("limit", strconv.Itoa(collectors.PageLimit))
			if page != "" {
				q.Set("continue", page)
			}
			u.RawQuery = q.Encode()
		}
		req, err := newRequest(u.String(), acceptFor(a.Request))
		if err != nil {
			return nil, collectors.Gapf(collectors.Bug, "%s: %v", who, err)
		}
		got, gap := s.exchange(ctx, who, addr, rt, req, a)
		if gap != nil {
			return nil, gap
		}
		switch {
		case got.StatusCode == http.StatusTooManyRequests && throttled < retries:
			throttled++
			got.drop()
			if err := pause(ctx, retryAfter(got.Header)); err != nil {
				return nil, stopped(ctx, stageWaiting).gap(who)
			}
			continue
		case got.StatusCode == http.StatusGone && page != "" && !resumed:
			// The list changed too long ago. The server may let the rest be
			// read as it is now: better than nothing, and no list that
			// ktriage reads needs one moment for all of its objects.
			st, _ := readStatus(got)
			if st.Continue == "" {
				return nil, statusGap(who, got.StatusCode, st.Message)
			}
			page, resumed = st.Continue, true
			continue
		}
		return answerOfAPI(a, who, got, u.Path)
	}
}

func answerOfAPI(a attempt, who string, got *answer, path string) (*collectors.Reply, *collectors.Gap) {
	reply, gap := judge(who, a.Verb, got)
	if gap != nil {
		switch gap.Reason {
		case collectors.Unauthorized:
			gap.Remedy = "the credentials of the kubeconfig were not accepted: have they expired?"
		case collectors.Forbidden:
			gap.Remedy = grant(a.Verb, path)
		case collectors.ServerError:
			if got.StatusCode == http.StatusTooManyRequests {
				gap.Detail += fmt.Sprintf(" (after %d tries)", retries+1)
			}
		}
		return nil, gap
	}
	reply.From = a.way
	return reply, nil
}

func retryAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || n < 0 {
		n = 1
	}
	return min(time.Duration(n)*time.Second, maxRetryAfter)
}

// pause waits, unless the run is stopped.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
