package fit

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// A hostPort is a port of the host that a pod wants.
type hostPort struct {
	ip, protocol string
	port         int32
}

// A portUse is a port of the host that a pod has.
type portUse struct {
	hostPort
	pod *podInfo
}

const everyIP = "0.0.0.0"

// hostPorts are those of a pod's containers and of the init containers that go on
// running beside them.
func hostPorts(p *v1.Pod) []hostPort {
	var ports []hostPort
	add := func(c *v1.Container) {
		for _, x := range c.Ports {
			if x.HostPort <= 0 {
				continue
			}
			h := hostPort{x.HostIP, string(x.Protocol), x.HostPort}
			if h.ip == "" {
				h.ip = everyIP
			}
			if h.protocol == "" {
				h.protocol = string(v1.ProtocolTCP)
			}
			ports = append(ports, h)
		}
	}
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways {
			add(c)
		}
	}
	for i := range p.Spec.Containers {
		add(&p.Spec.Containers[i])
	}
	return ports
}

func (h hostPort) conflicts(o hostPort) bool {
	return h.port == o.port && h.protocol == o.protocol && (h.ip == o.ip || h.ip == everyIP || o.ip == everyIP)
}

func (h hostPort) String() string {
	if h.ip == everyIP {
		return fmt.Sprintf("%d/%s", h.port, h.protocol)
	}
	return fmt.Sprintf("%s:%d/%s", h.ip, h.port, h.protocol)
}

func (c *cycle) hostPorts(n *nodeInfo, r *result) {
	for i, want := range c.ports {
		if !slices.ContainsFunc(n.ports, func(u portUse) bool { return want.conflicts(u.hostPort) }) {
			continue
		}
		r.hit(pNodePorts, 0, i, 1)
		if !r.full {
			continue
		}
		port := &Port{HostIP: want.ip, Protocol: want.protocol, Port: want.port}
		for _, u := range n.ports {
			if want.conflicts(u.hostPort) {
				port.Owners = append(port.Owners, podRef(u.pod.pod))
			}
		}
		r.fail(Failure{Plugin: NodePorts, Reason: "node(s) didn't have free ports for the requested pod ports",
			Detail: fmt.Sprintf("host port %s is taken by %s", want, names(port.Owners)), Preemptible: true, Port: port})
	}
}
