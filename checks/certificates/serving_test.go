package certificates

import (
	"testing"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

func TestShortCertificatesAreRenewedBySomebody(t *testing.T) {
	at := time.Unix(0, 0)
	for d, want := range map[time.Duration]bool{30 * day: true, 3 * day: true, 365 * day: false} {
		if got := renewed(collectors.Cert{NotBefore: at, NotAfter: at.Add(d)}); got != want {
			t.Errorf("%s: %v", d, got)
		}
	}
	if renewed(collectors.Cert{NotAfter: at}) {
		t.Error("without a beginning it is not known")
	}
}
