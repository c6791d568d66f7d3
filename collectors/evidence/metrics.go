package evidence

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// A body is what an endpoint served as its metrics.
type body struct {
	name string
	open func() (io.ReadCloser, error)
	role cluster.Role
	id   uint64    // of an etcd member; 0 if it does not say
	at   time.Time // when it was served, to two minutes; zero if it does not say

	started string    // of the process, as it says; empty if it does not
	cpu     float64   // seconds of processor time that it had taken
	stamp   time.Time // that the samples carry; zero if they carry none
	exact   bool      // at is to the second
	before  *body     // an earlier one of the same process; nil if there is none
}

// marks are families that tell a component. The order matters: a process that
// has many components in it is an API server that has more, and every process
// that serves HTTP with the API server's library has some of its families.
var marks = []struct {
	role  cluster.Role
	names *regexp.Regexp
}{
	{cluster.RoleAPIServer, regexp.MustCompile(`^(apiserver_request_total|apiserver_request_count|apiserver_storage_objects|etcd_object_counts|etcd_request_duration_seconds|apiserver_registered_watchers)`)},
	{cluster.RoleEtcd, regexp.MustCompile(`^etcd_(server|disk|mvcc|debugging|network|wal|cluster|snap|grpc)_`)},
	{cluster.RoleScheduler, regexp.MustCompile(`^scheduler_(pending_pods|schedule_attempts|scheduling_|queue_|e2e_|pod_|framework_|plugin_|unschedulable_|binding_|total_preemption)`)},
	{cluster.RoleControllers, regexp.MustCompile(`^(node_collector_|attachdetach_|endpoint_slice_controller_|replicaset_controller_|garbagecollector_controller_|cronjob_controller_|job_controller_|ttl_after_finished_|pv_collector_|node_ipam_controller_)`)},
	{cluster.RoleCloudController, regexp.MustCompile(`^cloudprovider_`)},
	{cluster.RoleAPIServer, regexp.MustCompile(`^(apiserver_current_inflight|apiserver_flowcontrol_|apiserver_storage_|apiserver_longrunning_|apiserver_admission_|aggregator_|etcd_lease_object_counts|etcd_db_total_size)`)},
}

// onlyRole are families that several components serve, by a label that tells
// whose they are.
var onlyRole = map[string]cluster.Role{
	`leader_election_master_status{name="kube-scheduler"`:          cluster.RoleScheduler,
	`leader_election_master_status{name="kube-controller-manager"`: cluster.RoleControllers,
	`workqueue_depth{name="deployment"`:                            cluster.RoleControllers,
	`workqueue_depth{name="node_lifecycle_controller"`:             cluster.RoleControllers,
}

// readMetrics tells whose metrics a file holds, and keeps where they are.
func (e *Evidence) readMetrics(in *input) error {
	open, err := e.reopened(in)
	if err != nil {
		return err
	}
	found := map[cluster.Role]bool{} // by labels
	marked := make([]bool, len(marks))
	b := &body{name: in.name, open: open}
	samples, release := 0, ""
	err = scanLines(io.LimitReader(in.in, metrics.MaxBody+1), func(line []byte) {
		if len(line) == 0 || line[0] == '#' {
			return
		}
		samples++
		end := bytes.IndexAny(line, "{ \t")
		if end <= 0 {
			return
		}
		name := line[:end]
		for i, m := range marks {
			if !marked[i] && m.names.Match(name) {
				marked[i] = true
			}
		}
		for prefix, role := range onlyRole {
			if bytes.HasPrefix(line, []byte(prefix)) {
				found[role] = true
			}
		}
		switch string(name) {
		case "etcd_server_id":
			if id := label(line, "server_id"); bytes.HasSuffix(line, []byte(" 1")) {
				b.id, _ = strconv.ParseUint(id, 16, 64)
			}
		case "go_memstats_last_gc_time_seconds":
			if x, err := strconv.ParseFloat(string(bytes.TrimSpace(line[end:])), 64); err == nil && x > 1e9 && x < 1e11 {
				b.at = time.UnixMilli(int64(x * 1000))
			}
		case "process_start_time_seconds":
			v := bytes.Fields(line[end:])
			if len(v) > 0 {
				b.started = clip(string(v[0]))
			}
			if len(v) == 2 {
				if ms, err := strconv.ParseInt(string(v[1]), 10, 64); err == nil && ms > 1e12 && ms < 1e14 {
					b.stamp = time.UnixMilli(ms)
				}
			}
		case "process_cpu_seconds_total":
			b.cpu, _ = strconv.ParseFloat(string(bytes.TrimSpace(line[end:])), 64)
		case "kubernetes_build_info":
			release = cmp.Or(label(line, "git_version"), label(line, "gitVersion"))
		}
	})
	if err != nil {
		return err
	}
	for i, m := range marks {
		if b.role == "" && (marked[i] || found[m.role]) {
			b.role = m.role
		}
	}
	if b.role == cluster.RoleAPIServer && e.release == "" {
		e.release = clip(release)
	}
	switch {
	case samples == 0:
		return errors.New("it holds no metrics")
	case b.role == "":
		return fmt.Errorf("its %d metrics are of no component that ktriage knows", samples)
	}
	b.dateBody(in.modified)
	if !b.at.IsZero() {
		e.saw(b.at)
	}
	e.bodies = append(e.bodies, b)
	return nil
}

// label returns the value of a label in a line of metrics.
func label(line []byte, name string) string {
	_, rest, ok := bytes.Cut(line, []byte(name+`="`))
	if !ok {
		return ""
	}
	v, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(v)
}

// stem is a file's name without what says nothing: its folder's name where the
// file is called metrics, as in etcd-cp-1/metrics.
func stem(name string) string {
	base := strings.TrimSuffix(path.Base(name), ".gz")
	base = strings.TrimSuffix(base, path.Ext(base))
	if base == "metrics" || base == "stdout" || base == "current" {
		if dir := path.Base(path.Dir(name)); dir != "." && dir != "/" {
			base = dir
		}
	}
	return base
}
