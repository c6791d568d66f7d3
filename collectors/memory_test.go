package collectors_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// TestMemoryDoesNotGrowWithTheCluster holds that a list of a hundred times as
// many pages has no more objects in memory at its end.
func TestMemoryDoesNotGrowWithTheCluster(t *testing.T) {
	const perPage = 500
	live := func(pages int) uint64 {
		var page strings.Builder
		for i := range perPage {
			fmt.Fprintf(&page, `{"metadata":{"name":"pod-%d","labels":{"app":"x"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}},`, i)
		}
		items := strings.TrimSuffix(page.String(), ",")
		src := &fake{answers: map[string]func(collectors.Request) (*collectors.Reply, error){
			"list kube:/api/v1/pods": func(r collectors.Request) (*collectors.Reply, error) {
				n := 0
				fmt.Sscan(r.Page, &n)
				token := ""
				if n+1 < pages {
					token = fmt.Sprint(n + 1)
				}
				body := fmt.Sprintf(`{"kind":"PodList","metadata":{"continue":%q},"items":[%s]}`, token, items)
				return &collectors.Reply{From: r.URL, Media: objects.JSON, Body: io.NopCloser(strings.NewReader(body))}, nil
			},
		}}
		var heap uint64
		count := &collectors.Fact[int]{
			ID: "pods.count", Targets: collectors.Single(self),
			Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
				return []collectors.Request{{Verb: collectors.List, URL: "kube:/api/v1/pods"}}
			},
			Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[int] {
				n := 0
				return collectors.Folder[int]{
					Add: func(int, objects.Object) {
						if n++; n == pages*perPage {
							var m runtime.MemStats
							runtime.GC()
							runtime.ReadMemStats(&m)
							heap = m.HeapAlloc
						}
					},
					Done: func([]collectors.Answered) (int, error) { return n, nil },
				}
			},
		}
		c := collectors.Collect(context.Background(), src, time.Unix(0, 0), time.Second, collectors.Options{}, count)
		if n, gap := count.One(c.Snapshot); gap != nil || n != pages*perPage {
			t.Fatalf("%d pods, %v", n, gap)
		}
		return heap
	}
	small, large := live(2), live(200)
	if large > small+small/2 {
		t.Errorf("2 pages hold %d bytes at their end, 200 hold %d", small, large)
	}
}
