package diagnose

import (
	"testing"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/suite"
)

// TestEveryCheckIsPlaced holds that whoever adds a check says what it has to do
// with the others: a link, or why there is none.
func TestEveryCheckIsPlaced(t *testing.T) {
	linked, there := map[checks.ID]bool{}, map[checks.ID]bool{}
	for _, l := range Links {
		for _, ids := range [][]checks.ID{l.Causes, l.Effects} {
			for _, id := range ids {
				linked[id] = true
			}
		}
	}
	for _, c := range suite.All() {
		there[c.ID] = true
		why, alone := Alone[c.ID]
		switch {
		case linked[c.ID] && alone:
			t.Errorf("%s stands alone, and in a link", c.ID)
		case !linked[c.ID] && !alone:
			t.Errorf("%s is in no link: add one to Links, with the evidence and its scenarios, or say in Alone why there is none", c.ID)
		case alone && len(why) < 20:
			t.Errorf("%s stands alone because %q", c.ID, why)
		}
	}
	for id := range Alone {
		if !there[id] {
			t.Errorf("%s stands alone, and there is no such check", id)
		}
	}
	for id := range linked {
		if !there[id] {
			t.Errorf("%s is in a link, and there is no such check", id)
		}
	}
}
