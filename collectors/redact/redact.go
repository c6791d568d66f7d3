// Package redact replaces in a text what nobody but its owner is to read: keys,
// tokens, passwords, e-mail addresses and, on request, public IP addresses. The
// same value is replaced by the same word throughout, so that what refers to it
// still does.
//
// It works on bytes, whatever their format: what it replaces holds no quotes,
// backslashes, NULs or ends of lines, nor does what it puts there, so that JSON stays
// JSON and metrics stay metrics.
package redact

import (
	"bytes"
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"sync"
)

// A Kind is a sort of thing that is replaced.
type Kind string

// The kinds.
const (
	PrivateKey Kind = "private key" // masked in place, by whoever writes: see Masked
	Token      Kind = "token"
	Password   Kind = "password"
	Email      Kind = "e-mail address"
	PublicIP   Kind = "public IP address"
)

// A Redactor replaces. It is safe for use by several goroutines.
type Redactor struct {
	rules []rule

	mu     sync.Mutex
	words  map[Kind]map[string]string // by value
	places map[Kind]int
}

// A rule finds values of a kind: the group named v of each match, or all of it.
type rule struct {
	kind  Kind
	hints []string // a text without any of these holds none; in lower case if fold
	fold  bool     // find takes either case
	find  *regexp.Regexp
	keep  func(string) bool // of what only looks like one; may be nil
}

// hinted reports whether a text may hold a value. It costs a fraction of looking
// with the expression, which most rules would otherwise do in vain in most texts.
func (r *rule) hinted(t *text) bool {
	in := t.b
	if r.fold {
		if t.folds() {
			return true
		}
		in = t.lower()
	}
	for _, h := range r.hints {
		if bytes.Contains(in, []byte(h)) {
			return true
		}
	}
	return false
}

// A text is what is looked through, with what the hints want to know of it.
type text struct {
	b        []byte
	small    []byte // b with the letters A to Z in lower case, once asked for
	odd, say bool   // whether b has a letter outside ASCII that folds into it; say: looked
}

func (t *text) lower() []byte {
	if t.small == nil {
		t.small = make([]byte, len(t.b))
		for i, c := range t.b {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			t.small[i] = c
		}
	}
	return t.small
}

// folds reports whether (?i) would take a letter that is not ASCII for one that is:
// the long s and the sign of the kelvin are the only two.
func (t *text) folds() bool {
	if !t.say {
		t.odd, t.say = bytes.Contains(t.b, []byte("\u017f")) || bytes.Contains(t.b, []byte("\u212a")), true
	}
	return t.odd
}

// New returns a Redactor, which replaces public IP addresses too if it is told.
func New(ips bool) *Redactor {
	r := &Redactor{words: map[Kind]map[string]string{}, places: map[Kind]int{}}
	r.rules = append(r.rules, always...)
	if ips {
		r.rules = append(r.rules, addresses...)
	}
	return r
}

var always = []rule{
	// JSON web tokens, as service accounts and OpenID Connect have.
	{kind: Token, hints: []string{"eyJ"}, find: regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`)},
	{kind: Token, hints: []string{"earer"}, find: regexp.MustCompile(`\b[Bb]earer[ \t]+(?P<v>[A-Za-z0-9._~+/=-]{16,})`), keep: replaced},
	// OpenShift's.
	{kind: Token, hints: []string{"sha256~"}, find: regexp.MustCompile(`sha256~[A-Za-z0-9_-]{20,}`)},
	// kubeadm's.
	{kind: Token, hints: []string{"token"}, fold: true, find: regexp.MustCompile(`(?i)token(?:\\?["'])?\s*[:= ]\s*(?:\\?["'])?(?P<v>[a-z0-9]{6}\.[a-z0-9]{16})\b`)},
	// Those of clouds and of their services.
	{kind: Token, hints: []string{"AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghr_", "ghs_", "xox", "AIza"},
		find: regexp.MustCompile(`\b(?:(?:AKIA|ASIA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{36,}|xox[abprs]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{35})`)},
	{kind: Password, hints: []string{"://"}, find: regexp.MustCompile(`://[^/\s:@"\\]{1,100}:(?P<v>[^/\s@"\\\x00]{1,200})@`), keep: replaced},
	{kind: Password, hints: []string{"password", "passwd", "apikey", "api_key", "api-key", "accesstoken", "access_token", "access-token", "accesskey", "access_key", "access-key",
		"clientsecret", "client_secret", "client-secret", "secretkey", "secret_key", "secret-key", "secretaccess", "secret_access", "secret-access"}, fold: true,
		find: regexp.MustCompile(`(?i)\b(?:[a-z]+[_-])?(?:password|passwd|api[_-]?key|access[_-]?(?:token|key)|client[_-]?secret|secret[_-]?(?:access[_-]?)?key)(?:=|\\?["']\s*[:=]\s*)(?:\\?["'])?(?P<v>[^\s"'\\,;&{}\[\]\x00]{4,})`), keep: replaced},
	{kind: Email, hints: []string{"@"}, find: regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9._%+-]*@[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}\b`), keep: unit},
}

var addresses = []rule{
	{kind: PublicIP, hints: []string{"."}, find: regexp.MustCompile(`\b(?:\d{1,3}\.){3}\d{1,3}\b`), keep: private},
	{kind: PublicIP, hints: []string{":"}, find: regexp.MustCompile(`(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}`), keep: private},
}

func replaced(s string) bool { return len(s) > 9 && s[:9] == "redacted-" }

// unit reports whether what looks like an address is the unit of systemd that it
// is on every machine: getty@tty1.service.
func unit(s string) bool {
	for _, end := range [...]string{".service", ".socket", ".slice", ".scope", ".timer", ".mount", ".target", ".device", ".invalid"} {
		if len(s) > len(end) && s[len(s)-len(end):] == end {
			return true
		}
	}
	return false
}

var (
	shared = netip.MustParsePrefix("100.64.0.0/10")
	nobody = []netip.Prefix{netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("2001:db8::/32")} // what stands in
)

// private reports whether what looks like an address is none that the world
// could use, or is none at all.
func private(s string) bool {
	a, err := netip.ParseAddr(s)
	return err != nil || Private(a)
}

// Private reports whether an address is none that the world could use.
func Private(a netip.Addr) bool {
	return !a.IsGlobalUnicast() || a.IsPrivate() || shared.Contains(a) || nobody[0].Contains(a) || nobody[1].Contains(a)
}

// Bytes returns b with what is to be replaced in it replaced. It may return b.
func (r *Redactor) Bytes(b []byte) []byte {
	t := &text{b: b}
	for i := range r.rules {
		rule := &r.rules[i]
		if !rule.hinted(t) {
			continue
		}
		if now := r.apply(rule, t.b); now != nil {
			t = &text{b: now}
		}
	}
	return t.b
}

// String is Bytes of a text.
func (r *Redactor) String(s string) string { return string(r.Bytes([]byte(s))) }

// apply returns a text with what a rule finds replaced, or nil if it finds nothing.
func (r *Redactor) apply(rule *rule, b []byte) []byte {
	group := max(0, rule.find.SubexpIndex("v"))
	var out []byte
	done := 0
	for _, m := range rule.find.FindAllSubmatchIndex(b, -1) {
		from, to := m[2*group], m[2*group+1]
		from = afterEscape(b, from, to)
		if from < done || from >= to {
			continue
		}
		if rule.kind == PublicIP && !alone(b, from, to) {
			continue
		}
		value := string(b[from:to])
		if rule.keep != nil && rule.keep(value) {
			continue
		}
		out = append(append(out, b[done:from]...), r.word(rule.kind, value)...)
		done = to
	}
	if out == nil {
		return nil
	}
	return append(out, b[done:]...)
}

// afterEscape moves the beginning of a value behind an escape of JSON that it
// seems to begin with: in \nme@example.com the address is me@example.com.
func afterEscape(b []byte, from, to int) int {
	n := 0
	for from-n > 0 && b[from-n-1] == '\\' {
		n++
	}
	if n%2 == 0 {
		return from
	}
	if b[from] == 'u' {
		return min(from+5, to)
	}
	return from + 1
}

// alone reports whether an address is not a part of something longer, such as a
// version or an object identifier.
func alone(b []byte, from, to int) bool {
	if from > 0 && (b[from-1] == '.' || b[from-1] == ':' || b[from-1] == '-' || wordByte(b[from-1])) {
		return false
	}
	return to == len(b) || b[to] != '.' && !wordByte(b[to]) || b[to] == '.' && (to+1 == len(b) || !wordByte(b[to+1]))
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// word is what stands for a value.
func (r *Redactor) word(k Kind, value string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.places[k]++
	words := r.words[k]
	if words == nil {
		words = map[string]string{}
		r.words[k] = words
	}
	if w, ok := words[value]; ok {
		return w
	}
	w := standIn(k, value, len(words)+1)
	words[value] = w
	return w
}

func standIn(k Kind, value string, n int) string {
	switch k {
	case Email:
		return fmt.Sprintf("user-%d@redacted.invalid", n)
	case PublicIP:
		if a, err := netip.ParseAddr(value); err == nil && a.Is6() {
			return fmt.Sprintf("2001:db8::%x:%x", n>>16, n&0xffff)
		}
		// 240.0.0.0/4 is of nobody, and large enough.
		return fmt.Sprintf("240.%d.%d.%d", n>>16&0xff, n>>8&0xff, n&0xff)
	}
	return fmt.Sprintf("redacted-%s-%d", k, n)
}

// Masked counts a private key that the caller masked.
func (r *Redactor) Masked() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.places[PrivateKey]++
}

// A Count says how often a kind was replaced, and of how many values.
type Count struct {
	Kind   Kind `json:"kind"`
	Values int  `json:"values,omitempty"` // 0 where they are not told apart
	Places int  `json:"places"`
}

// Counts lists what was replaced, without the values.
func (r *Redactor) Counts() []Count {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Count
	for k, n := range r.places {
		out = append(out, Count{k, len(r.words[k]), n})
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Compare(a.Kind, b.Kind) })
	return out
}
