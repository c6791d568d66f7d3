package faults

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	"github.com/ktriage/ktriage/lab/netns"
	"github.com/ktriage/ktriage/lab/pki"
)

// fewDays is less than the week at which ktriage calls an expiry critical.
const fewDays = 3 * 24 * time.Hour

var apiServerCertExpiring = Fault{
	Name: "apiserver-cert-expiring",
	Doc:  "The certificate that the API server serves with expires in three days. Everything works until then.",
	Want: Problem{Check: "cert-serving-expiring"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return reissue(lab, fewDays)
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "the API server to serve with the new certificate", func(ctx context.Context) error {
			left, err := servedFor(ctx, lab)
			if err == nil && left > 2*fewDays {
				err = fmt.Errorf("what is served is valid for %s", left)
			}
			return err
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := reissue(lab, lab.Options.CertValidity); err != nil {
			return err
		}
		return cluster.Until(ctx, effectTimeout, "the API server to serve with the new certificate", func(ctx context.Context) error {
			left, err := servedFor(ctx, lab)
			if err == nil && left < 2*fewDays {
				err = fmt.Errorf("what is served is valid for %s", left)
			}
			return err
		})
	},
}

// reissue replaces the first API server's serving certificate. It notices.
func reissue(lab *cluster.Lab, validity time.Duration) error {
	dir := lab.Options.PKI(0)
	ca, err := pki.LoadAuthority(filepath.Join(dir, "ca"))
	if err != nil {
		return err
	}
	leaf, err := pki.ReadLeaf(filepath.Join(dir, "apiserver"))
	if err != nil {
		return err
	}
	leaf.Validity = validity
	pair, err := ca.Issue(leaf)
	if err != nil {
		return err
	}
	return pair.Write(filepath.Join(dir, "apiserver"))
}

// servedFor is how long the certificate that the first API server serves with
// is still valid.
func servedFor(ctx context.Context, lab *cluster.Lab) (time.Duration, error) {
	address := net.JoinHostPort(lab.Options.NodeIP(0), "6443")
	conn, err := netns.Dialer(lab.Options.Netns(0), time.Second)(ctx, "tcp", address)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	if err := client.HandshakeContext(ctx); err != nil {
		return 0, err
	}
	chain := client.ConnectionState().PeerCertificates
	if len(chain) == 0 {
		return 0, errors.New("no certificate is served")
	}
	return time.Until(chain[0].NotAfter), nil
}
