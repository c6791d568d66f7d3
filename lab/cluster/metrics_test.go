package cluster

import "testing"

func TestParseMetrics(t *testing.T) {
	m := parseMetrics([]byte(`# HELP etcd_server_id Server or member ID in hexadecimal format. 1 for 'server_id' label with current ID.
# TYPE etcd_server_id gauge
etcd_server_id{server_id="1c3dbc1266e7b820"} 1
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.512"} 832
process_start_time_seconds 1.79603e+09
broken
`))
	if got := m[`etcd_disk_wal_fsync_duration_seconds_bucket{le="0.512"}`]; got != 832 {
		t.Errorf("got bucket %v", got)
	}
	if got := m["process_start_time_seconds"]; got != 1.79603e+09 {
		t.Errorf("got start time %v", got)
	}
	if got := m.label("etcd_server_id", "server_id"); got != "1c3dbc1266e7b820" {
		t.Errorf("got member ID %q", got)
	}
	if got := m.label("etcd_server_version", "server_version"); got != "" {
		t.Errorf("got %q of a family that is not there", got)
	}
	if len(m) != 3 {
		t.Errorf("got %d samples, want 3", len(m))
	}
}
