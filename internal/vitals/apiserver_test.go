package vitals

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const apiserverMetrics = `
-- scrape kube:/metrics #first --
process_start_time_seconds 1767236645
apiserver_request_total{code="200",group="",resource="pods",subresource="",verb="GET"} 1000
apiserver_request_total{code="200",group="",resource="pods",subresource="",verb="WATCH"} 100
apiserver_request_total{code="200",group="",resource="",subresource="/readyz",verb="GET"} 100
apiserver_request_sli_duration_seconds_bucket{group="",resource="pods",scope="resource",subresource="",verb="PUT",le="1"} 0
apiserver_request_sli_duration_seconds_bucket{group="",resource="pods",scope="resource",subresource="",verb="PUT",le="+Inf"} 0
apiserver_current_inflight_requests{request_kind="readOnly"} 9
-- scrape kube:/metrics #last --
process_start_time_seconds 1767236645
process_resident_memory_bytes 4e+08
apiserver_request_total{code="200",group="",resource="pods",subresource="",verb="GET"} 1300
apiserver_request_total{code="500",group="",resource="pods",subresource="",verb="PUT"} 15
apiserver_request_total{code="200",group="",resource="pods",subresource="",verb="PUT"} 85
apiserver_request_total{code="429",group="",resource="pods",subresource="",verb="LIST"} 20
apiserver_request_total{code="200",group="",resource="pods",subresource="",verb="WATCH"} 150
apiserver_request_total{code="200",group="",resource="",subresource="/readyz",verb="GET"} 200
apiserver_request_sli_duration_seconds_bucket{group="",resource="pods",scope="resource",subresource="",verb="PUT",le="1"} 50
apiserver_request_sli_duration_seconds_bucket{group="",resource="pods",scope="resource",subresource="",verb="PUT",le="+Inf"} 100
apiserver_current_inflight_requests{request_kind="readOnly"} 3
apiserver_current_inflight_requests{request_kind="mutating"} 1
apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} 5e+07
`

func TestAPIServerTellsItsTraffic(t *testing.T) {
	got := collect(t, apiserverGroup, apiserverMetrics, "kubeadm3")
	want := []string{
		"apiserver qps 471/s window", "apiserver qps read 321/s window", "apiserver qps write 101/s window", "apiserver qps watch 51/s window",
		"apiserver qps GET 301/s window", "apiserver qps LIST 21/s window", "apiserver qps PUT 101/s window",
		"apiserver errors 5xx 1.51/s window", "apiserver error ratio 0.0357% window", "apiserver throttled 429 21/s window",
		"apiserver write p99 1s window", "apiserver in flight 4 instant", "apiserver storage size 5e+07B instant",
		"apiserver memory 4e+08B instant", "apiserver uptime 8.64e+04s instant",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A restart in the window leaves no rates, and latencies of the new lifetime.
func TestAPIServerThatRestartedHasNoRates(t *testing.T) {
	got := collect(t, apiserverGroup, `
-- scrape kube:/metrics #first --
process_start_time_seconds 1767236645
apiserver_request_total{verb="GET",resource="pods",code="200"} 1000
-- scrape kube:/metrics #last --
process_start_time_seconds 1767323050
apiserver_request_total{verb="GET",resource="pods",code="200"} 10
`, "kubeadm3")
	if diff := cmp.Diff([]string{"apiserver uptime 5s instant"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAPIServerWithoutAnswersHasNoVitals(t *testing.T) {
	if got := collect(t, apiserverGroup, "", "kubeadm3"); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}
