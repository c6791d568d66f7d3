package apiserver

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed decode_errors.md
var decodeErrorsDoc string

// DecodeErrors looks for stored objects that an instance cannot read. One of
// them makes every list of its resource fail.
var DecodeErrors = &checks.Check{
	ID:        "apiserver-decode-errors",
	Component: collectors.APIServer,
	Title:     "every stored object can be read",
	Doc:       decodeErrorsDoc,
	Needs:     []collectors.Any{apiserver.StoreIntegrity},
	Remedies: []checks.Remedy{
		{Title: "find which object it is", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=1h --tail=-1 | grep -iE 'decode|decrypt|transform'", Risk: checks.ReadOnly},
		{Title: "compare the encryption configuration of the instances", Command: "grep -o 'encryption-provider-config=.*' /etc/kubernetes/manifests/kube-apiserver.yaml; sha256sum /etc/kubernetes/enc/*", Risk: checks.ReadOnly},
	},
	Run: decodeErrors,
}

// No public source gives a limit: the check ends at warning. RULES.md has
// critical from the first.
const decodeSource = "expert heuristic"

func decodeErrors(p *checks.Pass) {
	for t, i := range checks.Each(p, apiserver.StoreIntegrity) {
		decode, resource := worstGrowth(i.Undecodable)
		crypt, status := worstGrowth(i.Untransformed)
		now := decode.Window + crypt.Window
		// What cannot be read is read again, to fill a cache, after half a minute
		// at most or twice that (k8s.io/apiserver, cacher.go): if a full window
		// has nothing, it is most likely over, as after a conversion webhook was
		// away.
		verdict, when := checks.Info, "; none in the window"
		switch {
		case now > 0:
			verdict, when = checks.Warning, fmt.Sprintf("; %.0f of them in the window", now)
		case i.Broken != "":
			verdict, when = checks.Warning, "; whether it goes on is not known: "+i.Broken
		}
		var v *checks.Verdict
		switch {
		case decode.Lifetime > 0:
			v = p.Judge(t, verdict, "%.0f reads of objects that cannot be decoded since the process started, most of %s%s", decode.Lifetime, resource, when).
				Saw(apiserver.StoreIntegrity, "undecodable "+resource, fmt.Sprintf("%.0f", decode.Lifetime), "0", decodeSource).Mark("resource=" + resource)
		case crypt.Lifetime > 0:
			v = p.Judge(t, verdict, "%.0f failed encryptions or decryptions since the process started, status %s%s", crypt.Lifetime, status, when).
				Saw(apiserver.StoreIntegrity, "transformations "+status, fmt.Sprintf("%.0f", crypt.Lifetime), "0", decodeSource).Mark("encryption")
		default:
			v = p.OK(t, "0 objects that could not be decoded or decrypted since the process started")
		}
		if verdict == checks.Info && decode.Lifetime+crypt.Lifetime > 0 {
			v.TooFew()
		}
	}
}

// worstGrowth returns the sum of all, and the name of the largest part.
func worstGrowth(by map[string]metrics.Growth) (sum metrics.Growth, name string) {
	most := 0.0
	for _, k := range slices.Sorted(maps.Keys(by)) {
		sum.Window += by[k].Window
		sum.Lifetime += by[k].Lifetime
		if by[k].Lifetime > most {
			most, name = by[k].Lifetime, k
		}
	}
	return sum, name
}
