package cli

import (
	"slices"

	"k8s.io/client-go/tools/clientcmd"
)

// A kubeContexts is what a kubeconfig holds, by name.
type kubeContexts struct {
	current string
	names   []string
}

// contexts reads the kubeconfig, or what the usual rules find. One that cannot be
// read has none: what is wrong with it is said by who needs it.
func contexts(path string) kubeContexts {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	c, err := rules.Load()
	if err != nil {
		return kubeContexts{}
	}
	out := kubeContexts{current: c.CurrentContext}
	for name := range c.Contexts {
		out.names = append(out.names, name)
	}
	slices.Sort(out.names)
	return out
}
