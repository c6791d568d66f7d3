package pending

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/internal/fit"
)

func TestTheCommandForEachChange(t *testing.T) {
	web := subject{pod: &corev1.Pod{}, ns: "shop", name: "web-1", owner: pods.Owner{Kind: "Deployment", Name: "web"}}
	bare := subject{pod: &corev1.Pod{}, ns: "shop", name: "alone"}
	job := subject{pod: &corev1.Pod{}, ns: "shop", name: "j-1", owner: pods.Owner{Kind: "Job", Name: "j"}}
	ported := web
	ported.pod = &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Ports: []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 80, Protocol: "TCP"}}}}}}
	node := fit.Ref{Kind: fit.Nodes, Name: "worker-1"}
	gpu := &fit.Taint{Key: "dedicated", Value: "gpu", Effect: "NoSchedule"}
	for _, c := range []struct {
		name string
		s    subject
		e    fit.Edit
		want []string
	}{
		{"a container asks for less", web, fit.Edit{Kind: fit.LowerRequest, Resource: "cpu", Container: "app", From: 64000, To: 7200},
			[]string{"kubectl -n shop set resources deployment/web -c app --requests=cpu=7200m"}},
		{"two containers do", web, fit.Edit{Kind: fit.LowerRequest, Resource: "memory", Container: "app", From: 8 << 30, To: 1536 << 20, More: []fit.Cut{{Container: "log", From: 2, To: 1 << 30}}},
			[]string{"kubectl -n shop set resources deployment/web -c app --requests=memory=1536Mi", "kubectl -n shop set resources deployment/web -c log --requests=memory=1Gi"}},
		{"the limit of what cannot be overcommitted", web, fit.Edit{Kind: fit.LowerRequest, Resource: "nvidia.com/gpu", Container: "app", From: 4, To: 1},
			[]string{"kubectl -n shop set resources deployment/web -c app --limits=nvidia.com/gpu=1 --requests=nvidia.com/gpu=1"}},
		{"a pod of nobody", bare, fit.Edit{Kind: fit.LowerRequest, Resource: "cpu", Container: "app", From: 64000, To: 7200},
			[]string{"kubectl -n shop get pod alone -o yaml > pod.yaml   # lower its request for cpu to 7200m", "kubectl replace --force -f pod.yaml"}},
		{"a taint with a value", web, fit.Edit{Kind: fit.Tolerate, Taint: gpu},
			[]string{`kubectl -n shop patch deployment/web --type=json -p '[{"op":"add","path":"/spec/template/spec/tolerations","value":[{"effect":"NoSchedule","key":"dedicated","operator":"Equal","value":"gpu"}]}]'`}},
		{"a pod of nobody may be given a toleration", bare, fit.Edit{Kind: fit.Tolerate, Taint: gpu},
			[]string{`kubectl -n shop patch pod alone --type=json -p '[{"op":"add","path":"/spec/tolerations/-","value":{"effect":"NoSchedule","key":"dedicated","operator":"Equal","value":"gpu"}}]'`}},
		{"a taint off a node", web, fit.Edit{Kind: fit.RemoveTaint, Object: node, Taint: gpu}, []string{"kubectl taint node worker-1 dedicated:NoSchedule-"}},
		{"uncordon", web, fit.Edit{Kind: fit.Uncordon, Object: node}, []string{"kubectl uncordon worker-1"}},
		{"a label", web, fit.Edit{Kind: fit.AddLabel, Object: node, Labels: map[string]string{"disk": "nvme", "a/b": ""}}, []string{"kubectl label node worker-1 a/b= disk=nvme"}},
		{"a selector with a slash in it", web, fit.Edit{Kind: fit.DropSelector, Labels: map[string]string{"a/b": "c"}},
			[]string{`kubectl -n shop patch deployment/web --type=json -p '[{"op":"remove","path":"/spec/template/spec/nodeSelector/a~1b"}]'`}},
		{"a term", web, fit.Edit{Kind: fit.RelaxAffinity, Of: "podAntiAffinity", Index: 1},
			[]string{`kubectl -n shop patch deployment/web --type=json -p '[{"op":"remove","path":"/spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/1"}]'`}},
		{"an expression of a node affinity", web, fit.Edit{Kind: fit.RelaxAffinity, Of: "nodeAffinity", Index: 1, Expressions: []int{0, 2}},
			[]string{`kubectl -n shop patch deployment/web --type=json -p '[{"op":"remove","path":"/spec/template/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/1/matchExpressions/2"},{"op":"remove","path":"/spec/template/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/1/matchExpressions/0"}]'`}},
		{"a term of another pod", web, fit.Edit{Kind: fit.RelaxAffinity, Of: "existingPodAntiAffinity", Terms: []fit.PodTerm{{Pod: fit.Ref{Namespace: "a", Name: "b"}, Index: 1}}},
			[]string{`kubectl -n a get pod b -o jsonpath='{.metadata.ownerReferences[0].kind} {.metadata.ownerReferences[0].name}: {.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[1]}{"\n"}'   # in whose template to take this term out`}},
		{"fewer domains", web, fit.Edit{Kind: fit.RelaxSpread, Index: 1, MinDomains: 2},
			[]string{`kubectl -n shop patch deployment/web --type=json -p '[{"op":"replace","path":"/spec/template/spec/topologySpreadConstraints/1/minDomains","value":2}]'`}},
		{"nodes that do not count", web, fit.Edit{Kind: fit.RelaxSpread, Index: 0, TaintsPolicy: "Honor"},
			[]string{`kubectl -n shop patch deployment/web --type=json -p '[{"op":"add","path":"/spec/template/spec/topologySpreadConstraints/0/nodeTaintsPolicy","value":"Honor"}]'`}},
		{"a wish", web, fit.Edit{Kind: fit.RelaxSpread, Index: 0},
			[]string{`kubectl -n shop patch deployment/web --type=json -p '[{"op":"replace","path":"/spec/template/spec/topologySpreadConstraints/0/whenUnsatisfiable","value":"ScheduleAnyway"}]'`}},
		{"a spread of its own", web, fit.Edit{Kind: fit.OwnSpread, Of: "kubernetes.io/hostname", Labels: map[string]string{"app": "web"}},
			[]string{`kubectl -n shop patch deployment/web --type=json -p '[{"op":"add","path":"/spec/template/spec/topologySpreadConstraints","value":[{"labelSelector":{"matchLabels":{"app":"web"}},"maxSkew":1,"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"ScheduleAnyway"}]}]'`}},
		{"a host port", ported, fit.Edit{Kind: fit.DropPort, Container: "c", Port: &fit.Port{Port: 80, Protocol: "TCP"}},
			[]string{`kubectl -n shop patch deployment/web -p '{"spec":{"template":{"spec":{"containers":[{"name":"c","ports":[{"containerPort":8080,"hostPort":null,"protocol":"TCP"}]}]}}}}'`}},
		{"a node that is ill", web, fit.Edit{Kind: fit.MendNode, Object: node, Taint: gpu}, []string{"kubectl describe node worker-1", "journalctl -u kubelet -n 200   # on the node"}},
		{"a claim whose node was chosen", web, fit.Edit{Kind: fit.ResetClaim, Object: fit.Ref{Namespace: "shop", Name: "data"}},
			[]string{"kubectl -n shop annotate persistentvolumeclaim data volume.kubernetes.io/selected-node-"}},
		{"volumes that nobody uses", web, fit.Edit{Kind: fit.Detach, Attachments: []fit.Ref{{Name: "csi-1"}}},
			[]string{"kubectl delete volumeattachment csi-1   # once nothing on the node has it mounted"}},
		{"devices that nobody uses", web, fit.Edit{Kind: fit.FreeDevices, Claims: []fit.Ref{{Namespace: "shop", Name: "gpu"}}},
			[]string{"kubectl -n shop delete resourceclaim gpu"}},
		{"devices of a pod", web, fit.Edit{Kind: fit.FreeDevices, Pods: []fit.Ref{{Namespace: "shop", Name: "p"}}, Claims: []fit.Ref{{Namespace: "shop", Name: "gpu"}}},
			[]string{"kubectl -n shop delete pod p"}},
		{"a spread", web, fit.Edit{Kind: fit.RelaxSpread, Index: 0, MaxSkew: 3},
			[]string{`kubectl -n shop patch deployment/web --type=json -p '[{"op":"replace","path":"/spec/template/spec/topologySpreadConstraints/0/maxSkew","value":3}]'`}},
		{"a Job's template cannot be changed", job, fit.Edit{Kind: fit.RelaxSpread, Index: 0, MaxSkew: 3},
			[]string{"kubectl -n shop get job j -o yaml > job.yaml   # set maxSkew to 3, take out status, selector and the controller-uid labels", "kubectl replace --force -f job.yaml"}},
		{"pods in the way", web, fit.Edit{Kind: fit.FreePort, Pods: []fit.Ref{{Namespace: "a", Name: "b"}}}, []string{"kubectl -n a delete pod b"}},
		{"what the scheduler does itself", web, fit.Edit{Kind: fit.EvictPods, Self: true, Pods: []fit.Ref{{Namespace: "a", Name: "b"}}}, nil},
		{"a name that is none", web, fit.Edit{Kind: fit.Uncordon, Object: fit.Ref{Name: "x; rm -rf '/'"}}, []string{`kubectl uncordon 'x; rm -rf '\''/'\'''`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.s.commands(c.e)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAdviceThatDoesNotHelpIsNotGiven(t *testing.T) {
	s := subject{ns: "shop", name: "web-1", owner: pods.Owner{Kind: "Deployment", Name: "web"}}
	tolerate := func(key string) fit.Change {
		return fit.Change{Summary: key, Edits: []fit.Edit{{Kind: fit.Tolerate, Taint: &fit.Taint{Key: key, Effect: "NoSchedule"}}}}
	}
	got := s.proved([]fit.Change{
		tolerate("node-role.kubernetes.io/control-plane"), tolerate("node.kubernetes.io/not-ready"), tolerate("dedicated"),
		{Summary: "uncordon", Edits: []fit.Edit{{Kind: fit.Uncordon, Object: fit.Ref{Name: "n"}}}},
	})
	var names []string
	for _, c := range got {
		names = append(names, c.Summary)
	}
	if diff := cmp.Diff([]string{"dedicated", "uncordon", "node-role.kubernetes.io/control-plane"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzRefusals(f *testing.F) {
	f.Add(`exceeded quota: a, requested: pods=1, used: pods=2, limited: pods=2`)
	f.Add(`maximum cpu usage per Container is 1, but limit is 2`)
	f.Add(`minimum memory usage per Pod is 1Gi.  No request is specified`)
	f.Add(`Error creating: pods "a" is forbidden: pods "b" is forbidden: `)
	s := subject{ns: "n", owner: pods.Owner{Kind: "Deployment", Name: "d"}}
	f.Fuzz(func(t *testing.T, m string) {
		if detail(m) == "" && m != "" {
			t.Errorf("nothing is left of %q", m)
		}
		limitChanges(s, m)
		if x := asked.FindStringSubmatch(m); x != nil {
			amounts(x[1])
		}
	})
}

// Terms go by their places: when the first goes, the second is the first.
func TestTermsGoTheLastFirst(t *testing.T) {
	web := subject{pod: &corev1.Pod{}, ns: "shop", name: "web-1", owner: pods.Owner{Kind: "Deployment", Name: "web"}}
	got := web.change(fit.Change{Edits: []fit.Edit{
		{Kind: fit.RelaxAffinity, Of: "podAffinity", Index: 0}, {Kind: fit.RelaxAffinity, Of: "podAffinity", Index: 2}}}).Commands
	if len(got) != 2 || !strings.Contains(got[0], "Execution/2") || !strings.Contains(got[1], "Execution/0") {
		t.Error(got)
	}
}
