package fit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	resourcev1 "k8s.io/api/resource/v1"
)

// read makes a cluster of YAML documents. A pod named "p" is not part of it: it is
// the one to be judged.
func read(t testing.TB, docs string) (Cluster, *v1.Pod) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, storagev1.AddToScheme, resourcev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	var c Cluster
	var pod *v1.Pod
	for i, doc := range strings.Split(docs, "\n---\n") {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		data, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatalf("document %d: %v\n%s", i, err, doc)
		}
		o, _, err := decoder.Decode(data, nil, nil)
		if err != nil {
			t.Fatalf("document %d: %v\n%s", i, err, doc)
		}
		switch o := o.(type) {
		case *v1.Node:
			c.Nodes = append(c.Nodes, o)
		case *v1.Pod:
			if o.Namespace == "" {
				o.Namespace = "default"
			}
			o.UID = types.UID(o.Namespace + "/" + o.Name)
			if o.Name == "p" {
				pod = o
			}
			c.Pods = append(c.Pods, o)
		case *v1.Namespace:
			c.Namespaces = append(c.Namespaces, o)
		case *v1.PersistentVolumeClaim:
			o.Namespace = "default"
			c.PersistentVolumeClaims = append(c.PersistentVolumeClaims, o)
		case *v1.PersistentVolume:
			c.PersistentVolumes = append(c.PersistentVolumes, o)
		case *storagev1.StorageClass:
			c.StorageClasses = append(c.StorageClasses, o)
		case *storagev1.CSINode:
			c.CSINodes = append(c.CSINodes, o)
		case *storagev1.CSIDriver:
			c.CSIDrivers = append(c.CSIDrivers, o)
		case *storagev1.CSIStorageCapacity:
			c.CSIStorageCapacities = append(c.CSIStorageCapacities, o)
		case *resourcev1.ResourceClaim:
			o.Namespace = "default"
			c.ResourceClaims = append(c.ResourceClaims, o)
		case *resourcev1.ResourceSlice:
			c.ResourceSlices = append(c.ResourceSlices, o)
		case *resourcev1.DeviceClass:
			c.DeviceClasses = append(c.DeviceClasses, o)
		default:
			t.Fatalf("document %d: %T", i, o)
		}
	}
	if pod == nil {
		t.Fatal("no pod p")
	}
	return c, pod
}

// node is one of 2 cores and 4 GiB with room for ten pods.
func node(name string, more ...string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Node
metadata: {name: %[1]s, labels: {kubernetes.io/hostname: %[1]s, %[2]s}}
spec: {%[3]s}
status: {allocatable: {cpu: 2, memory: 4Gi, pods: 10, ephemeral-storage: 10Gi, %[4]s}}
---
`, name, at(more, 0), at(more, 1), at(more, 2))
}

func at(s []string, i int) string {
	if i < len(s) {
		return s[i]
	}
	return ""
}

// pod is one of the given metadata and spec, in flow style, of which the container
// may be left out.
func pod(name, meta, spec string) string {
	if !strings.Contains(spec, "containers:") {
		spec = "containers: [{name: c}], " + spec
	}
	return fmt.Sprintf("\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, %s}\nspec: {%s}\n---\n", name, meta, spec)
}

func TestMessage(t *testing.T) {
	zones := node("a", "topology.kubernetes.io/zone: za") + node("b", "topology.kubernetes.io/zone: zb")
	const class = "\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: late}\nprovisioner: disks.example\nvolumeBindingMode: WaitForFirstConsumer\n---\n"
	claim := func(name, spec string) string {
		return fmt.Sprintf("\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: %s}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}, %s}\n---\n", name, spec)
	}
	const uses = "volumes: [{name: data, persistentVolumeClaim: {claimName: c}}]"
	for _, test := range []struct {
		name, cluster, want string
	}{
		{"a pod that asks for nothing fits", node("a") + pod("p", "", ""), ""},
		{"no nodes", pod("p", "", ""), "no nodes available to schedule pods"},
		{"cordoned", node("a", "", "unschedulable: true") + pod("p", "", ""), "0/1 nodes are available: 1 node(s) were unschedulable."},
		{"cordoned and tolerated", node("a", "", "unschedulable: true") + pod("p", "", "tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}]"), ""},
		{"a taint", node("a", "", "taints: [{key: gpu, value: x, effect: NoSchedule}]") + pod("p", "", ""), "0/1 nodes are available: 1 node(s) had untolerated taint(s)."},
		{"a taint that only asks", node("a", "", "taints: [{key: gpu, value: x, effect: PreferNoSchedule}]") + pod("p", "", ""), ""},
		{"a taint and a selector: the first counts", node("a", "", "taints: [{key: gpu, effect: NoExecute}]") + node("b") + pod("p", "", "nodeSelector: {disk: ssd}"),
			"0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s)."},
		{"a node named by field", node("a") + node("b", "", "unschedulable: true") + pod("p", "", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [b]}]}]}}}"),
			"0/2 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity], 1 node(s) were unschedulable."},
		{"terms that name different nodes at once", node("a") + pod("p", "", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [b]}, {key: metadata.name, operator: In, values: [a]}]}]}}}"),
			"0/1 nodes are available: pod affinity terms conflict."},
		{"cpu and memory together", node("a") + pod("p", "", "containers: [{name: c, resources: {requests: {cpu: 3, memory: 5Gi}}}]"), "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory."},
		{"an init container asks for more", node("a") + pod("p", "", "initContainers: [{name: i, resources: {requests: {cpu: 3}}}], containers: [{name: c}]"), "0/1 nodes are available: 1 Insufficient cpu."},
		{"a sidecar and the container together", node("a") + pod("p", "", "initContainers: [{name: i, restartPolicy: Always, resources: {requests: {cpu: 1500m}}}], containers: [{name: c, resources: {requests: {cpu: 501m}}}]"), "0/1 nodes are available: 1 Insufficient cpu."},
		{"overhead counts", node("a") + pod("p", "", "overhead: {cpu: 10m}, containers: [{name: c, resources: {requests: {cpu: 2}}}]"), "0/1 nodes are available: 1 Insufficient cpu."},
		{"the pod's own resources count instead of its containers'", node("a") + pod("p", "", "resources: {requests: {cpu: 2500m}}, containers: [{name: c, resources: {requests: {cpu: 1}}}]"), "0/1 nodes are available: 1 Insufficient cpu."},
		{"an extended resource that no node has", node("a") + pod("p", "", "containers: [{name: c, resources: {requests: {example.com/gpu: 1}}}]"), "0/1 nodes are available: 1 Insufficient example.com/gpu."},
		{"pods that ended take nothing", node("a", "", "", "example.com/gpu: 1") + strings.Replace(pod("done", "", "nodeName: a, containers: [{name: c, resources: {requests: {example.com/gpu: 1}}}]"), "\n---", "\nstatus: {phase: Succeeded}\n---", 1) + pod("p", "", "containers: [{name: c, resources: {requests: {example.com/gpu: 1}}}]"), ""},
		{"a resize under way takes the greater", node("a") + strings.Replace(pod("big", "", "nodeName: a, containers: [{name: c, resources: {requests: {cpu: 500m}}}]"), "\n---",
			"\nstatus: {phase: Running, containerStatuses: [{name: c, image: i, imageID: i, ready: true, restartCount: 0, allocatedResources: {cpu: 1500m}, resources: {requests: {cpu: 1500m}}}]}\n---", 1) +
			pod("p", "", "containers: [{name: c, resources: {requests: {cpu: 1}}}]"), "0/1 nodes are available: 1 Insufficient cpu."},
		{"a host port taken on every address", node("a") + pod("q", "", "nodeName: a, containers: [{name: c, ports: [{containerPort: 1, hostPort: 80}]}]") + pod("p", "", "containers: [{name: c, ports: [{containerPort: 1, hostPort: 80, hostIP: 10.0.0.1}]}]"),
			"0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."},
		{"a host port of another address", node("a") + pod("q", "", "nodeName: a, containers: [{name: c, ports: [{containerPort: 1, hostPort: 80, hostIP: 10.0.0.2}]}]") + pod("p", "", "containers: [{name: c, ports: [{containerPort: 1, hostPort: 80, hostIP: 10.0.0.1}]}]"), ""},
		{"a claim that does not exist", node("a", "", "unschedulable: true") + pod("p", "", uses), `0/1 nodes are available: persistentvolumeclaim "c" not found.`},
		{"a claim without its class", node("a") + claim("c", "storageClassName: none") + pod("p", "", uses), "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."},
		{"a claim whose volume is to be made", node("a") + class + claim("c", "storageClassName: late") + pod("p", "", uses), ""},
		{"a class that makes no volumes and has none", node("a") + strings.Replace(class, "disks.example", "kubernetes.io/no-provisioner", 1) + claim("c", "storageClassName: late") + pod("p", "", uses),
			"0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind."},
		{"spread over zones", zones + pod("q", "labels: {app: w}", "nodeName: a") + pod("r", "labels: {app: w}", "nodeName: a") + strings.Replace(node("c", "topology.kubernetes.io/zone: zb"), "spec: {", "spec: {unschedulable: true, ", 1) +
			pod("p", "labels: {app: w}", "nodeSelector: {kubernetes.io/hostname: a}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, nodeAffinityPolicy: Ignore, labelSelector: {matchLabels: {app: w}}}]"),
			"0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable, 1 node(s) didn't match Pod's node affinity/selector."},
		{"minDomains not reached", node("a", "topology.kubernetes.io/zone: za") + pod("q", "labels: {app: w}", "nodeName: a") +
			pod("p", "labels: {app: w}", "topologySpreadConstraints: [{maxSkew: 1, minDomains: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: w}}}]"),
			"0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints."},
		{"affinity to nobody", zones + pod("p", "", "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}}}]}}"),
			"0/2 nodes are available: 2 node(s) didn't match pod affinity rules."},
		{"the first of a group that wants itself near", zones + pod("p", "labels: {app: db}", "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}}}]}}"), ""},
		{"anti-affinity of a pod that runs", node("a") + pod("q", "", "nodeName: a, affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: w}}}]}}") + pod("p", "labels: {app: w}", ""),
			"0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules."},
		{"a resource claim that does not exist", node("a") + pod("p", "", "resourceClaims: [{name: x, resourceClaimName: gpu}], containers: [{name: c, resources: {claims: [{name: x}]}}]"),
			`0/1 nodes are available: could not find ResourceClaim "default/gpu".`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, p := read(t, test.cluster)
			m := New(c)
			v := m.Judge(p)
			got := m.Message(v)
			if v.State == Fits {
				got = ""
			}
			want := test.want
			if strings.Contains(want, ", ") && strings.Contains(want, "available: ") {
				// The scheduler sorts reasons as text.
				head, rest, _ := strings.Cut(want, "available: ")
				parts := strings.Split(strings.TrimSuffix(rest, "."), ", ")
				slices.Sort(parts)
				want = head + "available: " + strings.Join(parts, ", ") + "."
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if _, err := json.Marshal(v); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEquivalentPodsAreJudgedOnce(t *testing.T) {
	c, p := read(t, node("a")+pod("p", "labels: {app: w}", "containers: [{name: c, resources: {requests: {cpu: 3}}}]"))
	m := New(c)
	q := p.DeepCopy()
	q.Name, q.UID = "q", "other"
	if m.Key(p) != m.Key(q) {
		t.Error("the key tells pods of one template apart")
	}
	q.Labels["app"] = "x"
	if m.Key(p) == m.Key(q) {
		t.Error("the key does not tell labels apart")
	}
	if v := m.Judge(q); v.Pod.Name != "q" {
		t.Errorf("the verdict is of %s", v.Pod.Name)
	}
}

// What could not be read is not guessed at: neither that a claim is missing nor
// that a node has room.
func TestUnreadKindsMakeVerdictsUnknown(t *testing.T) {
	for _, test := range []struct {
		name, cluster string
		unread        Kind
		want          State
	}{
		{"pods unread: there may be no room", node("a") + pod("p", "", "containers: [{name: c, resources: {requests: {cpu: 1}}}]"), Pods, NotKnown},
		{"pods unread: more than the node has is certain", node("a") + pod("p", "", "containers: [{name: c, resources: {requests: {cpu: 3}}}]"), Pods, Unschedulable},
		{"claims unread", node("a") + pod("p", "", "volumes: [{name: data, persistentVolumeClaim: {claimName: c}}]"), PersistentVolumeClaims, NotKnown},
		{"claims unread and a taint", node("a", "", "taints: [{key: gpu, effect: NoSchedule}]") + pod("p", "", "volumes: [{name: data, persistentVolumeClaim: {claimName: c}}]"), PersistentVolumeClaims, Unschedulable},
		{"nodes unread", pod("p", "", ""), Nodes, NotKnown},
		{"resource claims unread", node("a") + pod("p", "", "resourceClaims: [{name: x, resourceClaimName: gpu}], containers: [{name: c, resources: {claims: [{name: x}]}}]"), ResourceClaims, NotKnown},
		{"namespaces unread and a term that selects by them", node("a") + pod("p", "", "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, namespaceSelector: {matchLabels: {team: a}}, labelSelector: {matchLabels: {app: w}}}]}}"), Namespaces, NotKnown},
		{"namespaces unread and nothing asks", node("a") + pod("p", "", ""), Namespaces, Fits},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, p := read(t, test.cluster)
			c.Unread = map[Kind]string{test.unread: "forbidden"}
			if test.unread == Pods {
				c.Pods = nil
			}
			v := New(c).Judge(p)
			if v.State != test.want {
				t.Errorf("got %s, want %s: %+v", v.State, test.want, v)
			}
			if v.State == NotKnown && (len(v.Unread) == 0 || v.Unread[0].Kind != test.unread || v.Unread[0].Why != "forbidden") {
				t.Errorf("what could not be read is not said: %+v", v.Unread)
			}
		})
	}
}

func TestAllFailuresOfANodeAreTold(t *testing.T) {
	c, p := read(t, node("a", "disk: hdd", "unschedulable: true, taints: [{key: gpu, value: x, effect: NoSchedule}, {key: night, effect: NoExecute}]")+
		pod("q", "", "nodeName: a, containers: [{name: c, ports: [{containerPort: 1, hostPort: 80}], resources: {requests: {cpu: 1500m}}}]")+
		pod("p", "", "nodeSelector: {disk: ssd}, containers: [{name: c, ports: [{containerPort: 1, hostPort: 80}], resources: {requests: {cpu: 1, memory: 8Gi}}}]"))
	v := New(c).Judge(p)
	var got []string
	for _, f := range v.Groups[0].Failures {
		got = append(got, f.Detail)
	}
	want := []string{"the node is cordoned", "taint gpu=x:NoSchedule is not tolerated", "taint night:NoExecute is not tolerated",
		"node selector disk=ssd, the node has disk=hdd", "host port 80/TCP is taken by default/q",
		"the pod asks for 1 cpu, 500m of 2 are free, short by 500m", "the pod asks for 8 GiB memory, 4 GiB of 4 GiB are free, short by 4 GiB"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestChanges(t *testing.T) {
	for _, test := range []struct {
		name, cluster string
		want          []string
	}{
		{"cordoned", node("a", "", "unschedulable: true") + pod("p", "", ""),
			[]string{"uncordon node a", "let the pod tolerate taint node.kubernetes.io/unschedulable:NoSchedule", "add a node for one pod more"}},
		{"a request too large by a little", node("a") + pod("q", "", "nodeName: a, containers: [{name: c, resources: {requests: {cpu: 500m}}}]") + pod("p", "", "containers: [{name: c, resources: {requests: {cpu: 1750m}}}]"),
			[]string{"lower the cpu request of container c by 250m, to 1500m", "add a node with 1750m cpu free", "make room for cpu on node a: move default/q"}},
		{"a selector and a taint together", node("a", "", "taints: [{key: gpu, effect: NoSchedule}]") + pod("p", "", "nodeSelector: {disk: ssd}"),
			[]string{"let the pod tolerate taint gpu:NoSchedule and label node a with disk=ssd", "remove taint gpu:NoSchedule from node a and label node a with disk=ssd", "let the pod tolerate taint gpu:NoSchedule and drop disk=ssd from the pod's node selector", "add a node for one pod more and labels disk=ssd"}},
		{"a pod of lower priority: the scheduler does it by itself", node("a") + pod("q", "", "nodeName: a, priority: 1, containers: [{name: c, resources: {requests: {cpu: 2}}}]") + pod("p", "", "priority: 10, containers: [{name: c, resources: {requests: {cpu: 1}}}]"),
			[]string{"stop a pod of lower priority on node a: default/q, as the scheduler will do by itself", "add a node with 1 cpu free"}},
		{"a node that is not ready: it has to be mended", node("a", "", "taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]") + pod("p", "", ""), []string{"get node a ready again", "add a node for one pod more"}},
		{"a host port that another has", node("a") + pod("q", "", "nodeName: a, containers: [{name: c, ports: [{containerPort: 1, hostPort: 80}]}]") + pod("p", "", "containers: [{name: c, ports: [{containerPort: 1, hostPort: 80}]}]"),
			[]string{"take host port 80/TCP off the pod, and reach it by a Service", "add a node for one pod more", "free host port 80/TCP on node a: move default/q"}},
		{"spread that is one too strict", node("a", "zone: a", "", "") + node("b", "zone: b", "unschedulable: true") + pod("q", "labels: {app: w}", "nodeName: a") +
			pod("p", "labels: {app: w}", "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: w}}}]"),
			[]string{"uncordon node b", "let the pod tolerate taint node.kubernetes.io/unschedulable:NoSchedule", "raise maxSkew of the pod's spread over zone from 1 to 2", "let the pod's spread over zone be a wish: whenUnsatisfiable ScheduleAnyway", "add a node for one pod more and labels zone=b"}},
		{"two terms that are equal, of which each counts", node("a", "topology.kubernetes.io/zone: za") + node("b", "topology.kubernetes.io/zone: zb") + pod("q", "labels: {app: db}", "nodeName: a") + pod("r", "labels: {app: db}", "nodeName: b") +
			pod("p", "", "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: db}}}, {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: db}}}]}}"),
			[]string{"add a node for one pod more and labels topology.kubernetes.io/zone=new", "clear topology.kubernetes.io/zone=za of what the pod's anti-affinity keeps away from: move default/q", "clear topology.kubernetes.io/zone=zb of what the pod's anti-affinity keeps away from: move default/r",
				"drop the pod's required anti-affinity by topology.kubernetes.io/zone (app=db in default), its term 1 and drop the pod's required anti-affinity by topology.kubernetes.io/zone (app=db in default), its term 2"}},
		{"a node affinity of which one demand is too much", node("a", "disk: ssd") + pod("p", "", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [ssd]}, {key: size, operator: Gt, values: ['4']}]}]}}}"),
			[]string{"drop size>4 from the pod's required node affinity", "drop the pod's required node affinity (disk=ssd and size>4)", "add a node for one pod more and labels disk=ssd,size=5"}},
		{"fewer domains than are asked for", node("a", "zone: a") + pod("q", "labels: {app: w}", "nodeName: a") +
			pod("p", "labels: {app: w}", "topologySpreadConstraints: [{maxSkew: 1, minDomains: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: w}}}]"), []string{"lower minDomains of the pod's spread over zone from 2 to the 1 that there are", "raise maxSkew of the pod's spread over zone from 1 to 2",
			"let the pod's spread over zone be a wish: whenUnsatisfiable ScheduleAnyway", "add a node for one pod more and labels zone=new"}},
		{"a domain of nodes whose taints are not tolerated", node("a", "zone: a") + node("b", "zone: b", "taints: [{key: gpu, effect: NoSchedule}]") + pod("q", "labels: {app: w}", "nodeName: a") +
			pod("p", "labels: {app: w}", "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: w}}}]"), []string{"let the pod tolerate taint gpu:NoSchedule", "leave nodes whose taints the pod does not tolerate out of its spread over zone: nodeTaintsPolicy Honor",
			"raise maxSkew of the pod's spread over zone from 1 to 2", "remove taint gpu:NoSchedule from node b", "let the pod's spread over zone be a wish: whenUnsatisfiable ScheduleAnyway", "add a node for one pod more and labels zone=b"}},
		{"anti-affinity of a pod that runs", node("a") + pod("q", "", "nodeName: a, affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: w}}}]}}") + pod("p", "labels: {app: w}", ""), []string{"add a node for one pod more", "drop the anti-affinity of default/q by kubernetes.io/hostname that keeps the pod away (app=w in default), and make it anew",
			"clear kubernetes.io/hostname=a of pods whose anti-affinity keeps the pod away: move default/q"}},
		{"a device that no node has", node("a") + pod("p", "", "containers: [{name: c, resources: {requests: {example.com/gpu: 1}, limits: {example.com/gpu: 1}}}]"), []string{"add a node with 1 example.com/gpu free", "drop the example.com/gpu request of container c (1)"}},
		{"a pod that fits needs nothing", node("a") + pod("p", "", ""), nil},
		{"gates alone", node("a") + pod("p", "", "schedulingGates: [{name: example.com/wait}]"), []string{"let the owner of the scheduling gates remove them: example.com/wait"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, p := read(t, test.cluster)
			var got []string
			for _, x := range New(c).Changes(p) {
				got = append(got, x.Summary)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
