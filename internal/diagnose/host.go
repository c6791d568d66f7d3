package diagnose

import (
	"strings"

	"github.com/ktriage/ktriage/checks"
)

// hostLinks are those of a node that is looked at from within: from what the
// node lacks to its components, and from one of these to those that need it.
var hostLinks = []Link{
	{ID: "H1", Causes: ids{"host-flag-refused", "host-port-taken", "host-file-missing", "host-manifest-broken", "host-manifest-missing", "host-oom"}, Effects: ids{"host-component-down", "host-component-unhealthy"}, When: shares("role="),
		Because: "it keeps this component from running"},
	{ID: "H2", Causes: ids{"host-component-frozen", "host-component-down", "host-etcd-no-leader"}, Effects: ids{"host-component-unhealthy"}, When: shares("role="),
		Because: "it is the same component"},
	{ID: "H3", Causes: ids{"host-component-down", "host-component-frozen", "host-component-unhealthy", "host-etcd-no-leader"}, Effects: ids{"host-component-down", "host-component-unhealthy"}, When: needsIt,
		Because: "it lives on that component"},
	{ID: "H4", Causes: ids{"host-disk-full", "host-inodes"}, Effects: ids{"host-component-down", "host-component-unhealthy"}, When: noSpace,
		Because: "it cannot write"},
	{ID: "H5", Causes: ids{"host-cert-refused"}, Effects: ids{"host-component-down", "host-component-unhealthy", "host-etcd-no-leader"}, When: refusesCert,
		Because: "the other side turns the certificate down"},
	{ID: "H6", Causes: ids{"cert-files-expiring"}, Effects: ids{"host-component-down", "host-component-unhealthy", "host-etcd-no-leader"}, When: expiredFile,
		Because: "a certificate that it shows, or is shown, has expired"},
	{ID: "H7", Causes: ids{"host-disk-latency", "host-disk-saturated", "host-disk-errors", "host-etcd-fs-type", "host-psi", "host-iowait", "host-memory", "host-cpu-busy", "host-steal"}, Effects: ids{"host-component-unhealthy", "host-etcd-no-leader"}, When: runsSlowly,
		Because: "the node gives it too little, or too late"},
	{ID: "H8", Causes: ids{"host-disk-latency", "host-disk-saturated"}, Effects: ids{"host-psi", "host-iowait"}, When: waitsForDisk,
		Because: "it is that disk that is waited for"},
	{ID: "H9", Causes: ids{"host-kubelet-down"}, Effects: ids{"host-component-down"}, When: saysNothing,
		Because: "nobody starts it"},
}

// waitsForDisk fires where disks are what is waited for.
func waitsForDisk(_, e checks.Finding, _ View) Strength {
	if e.Check == "host-iowait" || e.Target.Name == "io" {
		return CoOccurrence
	}
	return No
}

// needsIt fires where the cause is a component that the effect's cannot do
// without: etcd for the API server, and the API server for the others.
func needsIt(c, e checks.Finding, _ View) Strength {
	switch {
	case c.Marked("role=etcd") && e.Marked("role=kube-apiserver"):
	case (c.Marked("role=kube-apiserver") || c.Marked("role=etcd")) && (e.Marked("role=kube-controller-manager") || e.Marked("role=kube-scheduler")):
	default:
		return No
	}
	if e.Marked("says=etcd") || e.Marked("says=api") || e.Marked("without=etcd") {
		return Direct
	}
	if e.Marked("says=flag") || e.Marked("says=port") || e.Marked("says=file") {
		return No // it has a reason of its own
	}
	return CoOccurrence
}

// noSpace fires where the component says that there is no room, or is etcd and
// its own file system is full.
func noSpace(c, e checks.Finding, _ View) Strength {
	switch {
	case e.Marked("says=space"):
		return Direct
	case e.Marked("role=etcd") && c.Marked("holds=etcd's data"):
		return Temporal
	}
	return No
}

// refusesCert fires between a certificate and those who show it, or are shown it.
func refusesCert(c, e checks.Finding, _ View) Strength {
	for _, m := range e.Marks {
		if strings.HasPrefix(m, "role=") && c.Marked(m) {
			if e.Marked("says=refused") {
				return Direct
			}
			return Temporal
		}
	}
	return No
}

// expiredFile fires where a certificate that has expired is one that the
// component shows, or is shown, or where it says so itself.
func expiredFile(c, e checks.Finding, _ View) Strength {
	if !c.Marked("expired") {
		return No
	}
	file, role := c.Target.Name, ""
	for _, x := range [...]struct{ part, role string }{
		{"healthcheck-client", "none"}, {"admin.conf", "none"},
		{"apiserver-etcd-client", "kube-apiserver"}, {"pki/etcd/server", "kube-apiserver"}, {"pki/etcd/peer", "etcd"}, {"pki/etcd/ca", "kube-apiserver"},
		{"scheduler.conf", "kube-scheduler"}, {"controller-manager.conf", "kube-controller-manager"},
	} {
		if strings.Contains(file, x.part) {
			role = x.role
			break
		}
	}
	switch {
	case role == "none":
		return No
	case role != "" && e.Marked("role="+role):
		return Direct
	case role == "" && e.Marked("says=expired"):
		return Temporal
	}
	return No
}

// runsSlowly fires for a component that is there and late, or whose members do
// not hear each other in time.
func runsSlowly(_, e checks.Finding, _ View) Strength {
	if e.Marked("silent") || e.Marked("without=etcd") || e.Check == "host-etcd-no-leader" {
		return CoOccurrence
	}
	return No
}

// saysNothing fires where the log of what does not run gives no reason.
func saysNothing(_, e checks.Finding, _ View) Strength {
	if e.Marked("says=") {
		return CoOccurrence
	}
	return No
}
