package term

import "testing"

func TestClean(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"plain ünïcode", "plain ünïcode"},
		{"\x1b[2J\x07", `\u001b[2J\u0007`},
		{"a\u202eb", `a\u202eb`}, // turns the reading direction
		{"two\nlines", `two\u000alines`},
	} {
		if got := Clean(tc.in); got != tc.want {
			t.Errorf("Clean(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}
