package host

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// A Manifest is a file from which the kubelet makes a static pod. It holds of it
// what is judged: no environment, whose values may be secret.
type Manifest struct {
	Path    string   `json:"path"`
	Broken  string   `json:"broken,omitempty"` // why the kubelet cannot make a pod of it
	Role    Role     `json:"role,omitempty"`
	Pod     string   `json:"pod,omitempty"`
	Args    []string `json:"args,omitempty"`    // the command line of the role's container
	Mounts  []Mount  `json:"mounts,omitempty"`  // what it sees of the node's files
	Ignored bool     `json:"ignored,omitempty"` // its name begins with a dot: the kubelet passes it over
}

// A Mount is a folder of the node that a container sees.
type Mount struct {
	Inside string `json:"inside"`
	Host   string `json:"host"`
}

// OnHost is where a path of the container is on the node.
func (m Manifest) OnHost(path string) string {
	best := Mount{}
	for _, x := range m.Mounts {
		if (path == x.Inside || strings.HasPrefix(path, strings.TrimSuffix(x.Inside, "/")+"/")) && len(x.Inside) > len(best.Inside) {
			best = x
		}
	}
	if best.Inside == "" {
		return path
	}
	return strings.TrimSuffix(best.Host, "/") + strings.TrimPrefix(path, strings.TrimSuffix(best.Inside, "/"))
}

// Flag is the value of a flag of the command line.
func (m Manifest) Flag(name string) (string, bool) { return flagOf(m.Args, name) }

// ParseManifest reads a manifest as the kubelet does, YAML or JSON.
func ParseManifest(path string, b []byte) Manifest {
	m := Manifest{Path: path}
	m.Role = roleOfFile(path)
	var pod struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Spec struct {
			Containers []struct {
				Name         string   `json:"name"`
				Image        string   `json:"image"`
				Command      []string `json:"command"`
				Args         []string `json:"args"`
				VolumeMounts []struct {
					Name      string `json:"name"`
					MountPath string `json:"mountPath"`
				} `json:"volumeMounts"`
			} `json:"containers"`
			Volumes []struct {
				Name     string `json:"name"`
				HostPath *struct {
					Path string `json:"path"`
				} `json:"hostPath"`
			} `json:"volumes"`
		} `json:"spec"`
	}
	if len(strings.TrimSpace(string(b))) == 0 {
		m.Broken = "the file is empty"
		return m
	}
	if err := yaml.Unmarshal(b, &pod); err != nil {
		m.Broken = strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")), " ")
		return m
	}
	m.Pod = pod.Metadata.Name
	switch {
	case pod.Kind != "Pod" || pod.APIVersion != "v1":
		m.Broken = fmt.Sprintf("it is %q of %q, and no Pod of v1", pod.Kind, pod.APIVersion)
	case pod.Metadata.Name == "":
		m.Broken = "the pod has no name"
	case len(pod.Spec.Containers) == 0:
		m.Broken = "the pod has no container"
	}
	for _, c := range pod.Spec.Containers {
		args := slices.Concat(c.Command, c.Args)
		if m.Broken == "" && (c.Name == "" || c.Image == "") {
			m.Broken = "a container has no name or no image"
		}
		if len(args) == 0 {
			continue
		}
		if r := RoleOf(args[0]); r != "" {
			m.Role, m.Args = r, args
		} else if r := RoleOf(c.Name); r != "" && m.Args == nil {
			m.Role, m.Args = r, args
		} else {
			continue
		}
		m.Mounts = nil
		for _, v := range c.VolumeMounts {
			for _, w := range pod.Spec.Volumes {
				if w.Name == v.Name && w.HostPath != nil && v.MountPath != "" {
					m.Mounts = append(m.Mounts, Mount{v.MountPath, w.HostPath.Path})
				}
			}
		}
	}
	return m
}

// roleOfFile tells whose manifest a file is by its name, for one that cannot be
// read further.
func roleOfFile(path string) Role {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for _, r := range Components {
		if strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml"), ".json"), ".") == string(r) {
			return r
		}
	}
	return ""
}
