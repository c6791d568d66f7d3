package checks_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

type script map[string]string

func (s script) Fetch(_ context.Context, r collectors.Request) (*collectors.Reply, error) {
	b, ok := s[r.URL]
	if !ok {
		return nil, collectors.Gapf(collectors.Unreachable, "dial: refused")
	}
	return &collectors.Reply{Body: io.NopCloser(strings.NewReader(b))}, nil
}

var size = &collectors.Fact[int]{
	ID: "etcd.size",
	Targets: func(*collectors.Snapshot) ([]collectors.Target, error) {
		return []collectors.Target{{Component: collectors.Etcd, Name: "m2"}, {Component: collectors.Etcd, Name: "m1"}, {Component: collectors.Etcd, Name: "m3"}}, nil
	},
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: t.Name}}
	},
	Read: func(rs []collectors.Answered) (n int, err error) {
		_, err = fmt.Sscan(string(rs[0].Body), &n)
		return n, err
	},
}

func judge(src collectors.Source, cs ...*checks.Check) string {
	c := collectors.Collect(context.Background(), src, time.Unix(0, 0), time.Second, collectors.Options{}, checks.Facts(cs)...)
	var b strings.Builder
	for _, f := range checks.Run(c.Snapshot, cs) {
		fmt.Fprintf(&b, "%s %s %s: %s", f.Check, f.Status, f.Target, f.Summary)
		if (f.Gap != nil) != (f.Status == checks.Unknown || f.Status == checks.OutOfScope) {
			b.WriteString(" WITH THE WRONG GAP")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func check(run func(*checks.Pass)) *checks.Check {
	return &checks.Check{ID: "x", Component: collectors.Etcd, Needs: []collectors.Any{size}, Run: run}
}

func TestEveryTargetGetsAVerdict(t *testing.T) {
	src := script{"m1": "98", "m2": "1"}
	for _, tc := range []struct {
		name string
		run  func(*checks.Pass)
		want string
	}{
		{"a check that judges all", func(p *checks.Pass) {
			for m, n := range checks.Each(p, size) {
				if n > 90 {
					p.Critical(m, "size %d", n)
				} else {
					p.OK(m, "size %d", n)
				}
			}
		}, "x critical etcd/m1: size 98\nx ok etcd/m2: size 1\nx unknown etcd/m3: dial: refused\n"},
		{"a check that stops at the first", func(p *checks.Pass) {
			for m := range checks.Each(p, size) {
				p.Critical(m, "big")
				break
			}
		}, "x critical etcd/m1: big\nx unknown etcd/m2: the check gave no verdict\nx unknown etcd/m3: dial: refused\n"},
		{"a check that panics half-way", func(p *checks.Pass) {
			for m, n := range checks.Each(p, size) {
				p.OK(m, "%d", 100/(n-1))
			}
		}, "x unknown etcd: check x: runtime error: integer divide by zero\nx ok etcd/m1: 1\nx unknown etcd/m2: check x: runtime error: integer divide by zero\nx unknown etcd/m3: dial: refused\n"},
		{"a check that does nothing", func(*checks.Pass) {}, "x unknown etcd: there was nothing to examine\n"},
		{"a check that panics at once", func(*checks.Pass) { panic("no") }, "x unknown etcd: check x: no\n"},
		{"a check that asks for an unknown verdict", func(p *checks.Pass) { p.Judge(collectors.Target{}, checks.Unknown, "fine") },
			"x unknown etcd: check x: Judge needs a verdict; Unknown takes a gap\n"},
		{"a check that has nothing to judge", func(p *checks.Pass) { p.Nothing(collectors.Target{Component: collectors.Etcd}, "no write") },
			"x outOfScope etcd: no write\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, judge(src, check(tc.run))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReadingAFactThatIsNotDeclaredIsABug(t *testing.T) {
	c := check(func(p *checks.Pass) {
		for m := range checks.Each(p, size) {
			p.OK(m, "fine")
		}
	})
	c.Needs = nil
	if got := judge(script{"m1": "1"}, c); !strings.Contains(got, "unknown etcd: check x: check x reads etcd.size, which its Needs do not list") {
		t.Error(got)
	}
}

func TestWorst(t *testing.T) {
	f := func(ss ...checks.Status) (out []checks.Finding) {
		for _, s := range ss {
			out = append(out, checks.Finding{Status: s})
		}
		return out
	}
	for _, tc := range []struct {
		in   []checks.Finding
		want checks.Status
	}{
		{f(checks.OK, checks.Info, checks.OutOfScope), checks.OK},
		{f(checks.OK, checks.Warning), checks.Warning},
		{f(checks.Warning, checks.Unknown), checks.Unknown},
		{f(checks.Unknown, checks.Critical), checks.Critical},
	} {
		if got := checks.Worst(tc.in); got != tc.want {
			t.Errorf("Worst(%v) = %v, want %v", tc.in, got, tc.want)
		}
	}
}

func TestARunThatJudgedNothingIsNotOK(t *testing.T) {
	if got := checks.Worst(nil); got != checks.Unknown {
		t.Errorf("Worst of nothing = %v", got)
	}
	if got := checks.Worst([]checks.Finding{{Status: checks.OutOfScope}}); got != checks.Unknown {
		t.Errorf("Worst of what is out of scope = %v", got)
	}
}

func TestWords(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{checks.Bytes(0), "0 B"}, {checks.Bytes(1023), "1023 B"}, {checks.Bytes(1024), "1.0 KiB"}, {checks.Bytes(2 << 30), "2.0 GiB"}, {checks.Bytes(150 << 20), "150 MiB"}, {checks.Bytes(1 << 62), "4096 PiB"},
		{checks.Seconds(0), "0 s"}, {checks.Seconds(0.0034), "3.4 ms"}, {checks.Seconds(0.01), "10 ms"}, {checks.Seconds(0.0996), "100 ms"}, {checks.Seconds(0.512), "512 ms"}, {checks.Seconds(1.024), "1 s"}, {checks.Seconds(8.192), "8.2 s"}, {checks.Seconds(15), "15 s"}, {checks.Seconds(0.00002), "20 µs"},
		{checks.Span(90 * time.Second), "1m 30s"}, {checks.Span(time.Hour), "1h"}, {checks.Span(73 * time.Hour), "3d 1h"}, {checks.Span(1500 * time.Millisecond), "2s"},
		{checks.Percent(0.98), "98%"}, {checks.Percent(0.024), "2.4%"}, {checks.Percent(0), "0%"}, {checks.Percent(0.00012), "0.012%"},
		{checks.Count(1, "pod"), "1 pod"}, {checks.Count(3, "retry"), "3 retries"}, {checks.Count(0, "lease"), "0 leases"},
		{checks.List([]string{"a", "b", "c"}, 2), "a, b and 1 more"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}
