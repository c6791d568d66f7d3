package pending

import (
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
