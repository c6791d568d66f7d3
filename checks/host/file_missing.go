package host

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed file_missing.md
var fileMissingDoc string

// FileMissing looks whether every file that the control plane's flags name is there.
var FileMissing = &checks.Check{
	ID:        "host-file-missing",
	Component: collectors.Host,
	Title:     "every file that the control plane's flags name is there",
	Doc:       fileMissingDoc,
	Needs:     []collectors.Any{host.Nodes, host.Named},
	Remedies: []checks.Remedy{
		{Title: "see what is there", Command: `ls -l /etc/kubernetes/pki /etc/kubernetes/pki/etcd`, Risk: checks.ReadOnly},
		{Title: "bring back what is of a CA, or sa.key and sa.pub, from another control-plane node or a backup: nobody trusts a new one", Command: `scp -p OTHER-NODE:/etc/kubernetes/pki/FILE /etc/kubernetes/pki/FILE`, Risk: checks.Safe},
		{Title: "if the CAs are there, let kubeadm make the other certificates that are missing; it keeps those that are there", Command: `ls /etc/kubernetes/pki/ca.crt /etc/kubernetes/pki/etcd/ca.crt /etc/kubernetes/pki/front-proxy-ca.crt && kubeadm init phase certs all`, Risk: checks.Disruptive},
	},
	Run: fileMissing,
}

func fileMissing(p *checks.Pass) {
	fs, ok := namedFiles(p)
	if !ok {
		return
	}
	for _, r := range host.Components {
		var gone, unread []string
		var first *host.Missed
		count := 0
		for _, f := range fs.Named {
			if f.Role != r {
				continue
			}
			count++
			if f.Missing {
				gone = append(gone, fmt.Sprintf("%s (--%s)", f.Path, f.Flag))
			}
			if f.Unread != nil {
				unread = append(unread, f.Path)
				first = f.Unread
			}
		}
		t := roleTarget(p, r)
		switch {
		case count == 0:
		case len(gone) > 0:
			p.Critical(t, "not there: %s", checks.List(gone, 3)).Saw(host.Named, "missing", checks.List(gone, 6), "", "").Mark("role=" + string(r))
		case len(unread) > 0:
			p.Unknown(t, first.Gap())
		default:
			p.OK(t, "%s of its flags are there", checks.Count(count, "file")).Saw(host.Named, "files", fmt.Sprint(count), "", "")
		}
	}
}
