package checks_test

import (
	"testing"

	"github.com/ktriage/ktriage/checks"
)

func TestUnitsAreReadAsTheyAreWritten(t *testing.T) {
	for _, tc := range []struct {
		unit    checks.Unit
		in      string
		want    float64
		written string
	}{
		{checks.InRatio, "80%", 0.8, "80%"},
		{checks.InRatio, "0.144", 0.144, "14.4%"},
		{checks.InSeconds, "250ms", 0.25, "250ms"},
		{checks.InSeconds, "5m", 300, "5m"},
		{checks.InSeconds, "2h", 7200, "2h"},
		{checks.InSeconds, "90s", 90, "1m30s"},
		{checks.InSeconds, "30d", 30 * 86400, "30d"},
		{checks.InSeconds, "0.128", 0.128, "128ms"},
		{checks.InBytes, "2GiB", 2 << 30, "2GiB"},
		{checks.InBytes, "2GB", 2e9, "2000000000"},
		{checks.InBytes, "4Gi", 4 << 30, "4GiB"},
		{checks.InRate, "50/s", 50, "50/s"},
		{checks.InNumber, "1000", 1000, "1000"},
	} {
		got, err := tc.unit.Parse(tc.in)
		if err != nil || got < tc.want*0.999999 || got > tc.want*1.000001 {
			t.Errorf("%s: got %v, %v, want %v", tc.in, got, err, tc.want)
		}
		if s := tc.unit.Format(tc.want); s != tc.written {
			t.Errorf("%v: got %s, want %s", tc.want, s, tc.written)
		}
		if again, err := tc.unit.Parse(tc.unit.Format(tc.want)); err != nil || again != tc.want && tc.unit != checks.InRatio {
			t.Errorf("%s: read again: %v, %v", tc.written, again, err)
		}
	}
	for _, u := range []checks.Unit{checks.InRatio, checks.InSeconds, checks.InBytes, checks.InRate, checks.InNumber} {
		for _, in := range []string{"", "x", "NaN", "Inf", "-1", "1e999", "10%%", "5 minutes"} {
			if x, err := u.Parse(in); err == nil {
				t.Errorf("%s %q: got %v", u, in, x)
			}
		}
	}
}
