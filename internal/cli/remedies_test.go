package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/remediate"
)

// TestRemediesNameOnlyCommandsThatExist holds that no rule sends an operator,
// at night, to a command of ktriage that is not there.
func TestRemediesNameOnlyCommandsThatExist(t *testing.T) {
	known := map[string]bool{"CHECK": true}
	for _, c := range (&app{Invocation: Invocation{Args: []string{"ktriage"}}}).root().Commands() {
		known[c.Name()] = true
	}
	named := regexp.MustCompile("`ktriage ([a-z]+)")
	for _, c := range all() {
		for _, r := range c.Remedies {
			if _, ok := remediate.Find(r.Recipe); r.Recipe != "" && !ok {
				t.Errorf("%s names the recipe %q", c.ID, r.Recipe)
			}
			if words := strings.Fields(r.Command); len(words) > 1 && words[0] == "ktriage" && !known[words[1]] {
				t.Errorf("%s sends to %q", c.ID, r.Command)
			}
		}
		for _, m := range named.FindAllStringSubmatch(c.Doc, -1) {
			if !known[m[1]] {
				t.Errorf("the page of %s names ktriage %s", c.ID, m[1])
			}
		}
	}
}
