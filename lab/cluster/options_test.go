package cluster

import (
	"slices"
	"strings"
	"testing"
)

func TestOptionsRefuseWhatCannotRun(t *testing.T) {
	for name, o := range map[string]Options{
		"a relative folder":              {Dir: "lab"},
		"more API servers than nodes":    {Dir: "/lab", APIServers: 4},
		"more members than nodes":        {Dir: "/lab", EtcdMembers: 5},
		"local etcd where there is none": {Dir: "/lab", APIServers: 3, EtcdMembers: 1, StackedEtcd: true},
		"a component that does not run":  {Dir: "/lab", ExtraArgs: map[string]map[string]string{"kube-proxy": {"v": "2"}}},
		"an index out of range":          {Dir: "/lab", Index: 10},
	} {
		if err := o.withDefaults().validate(); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	if err := (Options{Dir: "/lab"}).withDefaults().validate(); err != nil {
		t.Errorf("the default: %v", err)
	}
	if err := (Options{Dir: "/lab", ControlPlanes: 1}).withDefaults().validate(); err != nil {
		t.Errorf("a single node: %v", err)
	}
}

func TestExtraArgsReplaceFlagsAndAddOthers(t *testing.T) {
	o := Options{Dir: "/lab", ExtraArgs: map[string]map[string]string{
		"etcd": {"snapshot-count": "7", "quota-backend-bytes": "33554432"},
	}}.withDefaults()
	command := o.Components(Etcd)[0].Command()
	for _, want := range []string{"--snapshot-count=7", "--quota-backend-bytes=33554432"} {
		if !slices.Contains(command, want) {
			t.Errorf("%s is not in %v", want, command)
		}
	}
	seen := map[string]bool{}
	for _, arg := range command {
		name, _, _ := strings.Cut(arg, "=")
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
	}
}

func TestEveryNodeHasItsOwnAddress(t *testing.T) {
	o := Options{Dir: "/lab", Workers: 1000}.withDefaults()
	seen := map[string]bool{}
	for _, space := range o.Network().Spaces {
		for _, addr := range space.Addrs {
			if seen[addr.String()] {
				t.Fatalf("%s is there twice", addr)
			}
			seen[addr.String()] = true
		}
	}
	if got, want := len(seen), o.ControlPlanes+o.Workers; got != want {
		t.Errorf("got %d addresses, want %d", got, want)
	}
}

func TestNetworkNamesFitInterfaces(t *testing.T) {
	o := Options{Dir: "/lab", Index: maxIndex}.withDefaults()
	n := o.Network()
	const longest = 15
	if name := n.Veth(len(n.Spaces) - 1); len(name) > longest {
		t.Errorf("%s is longer than %d", name, longest)
	}
}
