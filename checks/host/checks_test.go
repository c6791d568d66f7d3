package host

import (
	"testing"

	"github.com/ktriage/ktriage/checks/checktest"
)

func TestCases(t *testing.T) {
	for _, c := range All {
		t.Run(string(c.ID), func(t *testing.T) { checktest.Run(t, ".", c) })
	}
}
