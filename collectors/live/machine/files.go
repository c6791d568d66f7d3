package machine

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/ktriage/ktriage/collectors/certificates"
	"github.com/ktriage/ktriage/collectors/host"
)

// files looks for the files that the command lines name. Keys are looked for,
// and not read.
func (s *Source) files() host.Files {
	var out host.Files
	n := s.node()
	for _, r := range host.Components {
		m, planned := n.Manifest(r)
		for _, flag := range host.Flags[r] {
			path := n.Flag(r, flag, "")
			if path == "" || !strings.HasPrefix(path, "/") {
				continue
			}
			if planned {
				path = m.OnHost(path)
			}
			f := host.File{Role: r, Flag: flag, Path: s.onNode(path)}
			isCert := strings.Contains(flag, "cert") && !strings.Contains(flag, "key") || strings.HasSuffix(flag, "ca-file") || strings.HasSuffix(flag, "cafile") || strings.HasSuffix(flag, "kubelet-client-certificate")
			if !isCert {
				_, err := os.Stat(s.at(path))
				f.Missing = errors.Is(err, fs.ErrNotExist)
				if err != nil && !f.Missing {
					m := missed(f.Path, err)
					f.Unread = &m
				}
				out.Named = append(out.Named, f)
				continue
			}
			b, err := readSome(s.at(path), smallFile)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				f.Missing = true
			case err != nil:
				m := missed(f.Path, err)
				f.Unread = &m
			default:
				cs, err := certificates.Read(b)
				if err != nil {
					m := missed(f.Path, err)
					f.Unread = &m
				}
				f.Certs = string(certificates.Write(cs))
			}
			out.Named = append(out.Named, f)
		}
	}
	return out
}
