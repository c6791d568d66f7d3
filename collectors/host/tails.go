package host

import (
	"regexp"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors/logs"
)

// Tails are the last lines that each component wrote.
type Tails struct {
	Logs   []Tail   `json:"logs,omitempty"`
	Missed []Missed `json:"missed,omitempty"`
}

// A Tail is the end of a component's log.
type Tail struct {
	Role  Role      `json:"role"`
	Path  string    `json:"path"`
	Last  time.Time `json:"last,omitzero"`  // when the last line was written
	Lines []string  `json:"lines"`          // freed of their carrier, oldest first
	Runs  int       `json:"runs,omitempty"` // how often the container was started, as its log's name tells
}

// Of returns the end of the log of a role.
func (t Tails) Of(r Role) (Tail, bool) {
	for _, x := range t.Logs {
		if x.Role == r {
			return x, true
		}
	}
	return Tail{}, false
}

// Ends is what each wrote last.
var Ends = fact[Tails]("host.logs", "the last lines of each component's log on the node", TailsURL)

// A Cause is why a component ended, or cannot serve, as it says itself.
type Cause string

// The causes.
const (
	BadFlag     Cause = "flag"
	PortTaken   Cause = "port"
	NoSpace     Cause = "space"
	FileMissing Cause = "file"
	CertExpired Cause = "expired"
	CertRefused Cause = "refused"
	EtcdAway    Cause = "etcd"
	DataDamaged Cause = "data"
	NoMemory    Cause = "memory"
	APIAway     Cause = "api"
)

// causes are what log lines tell, the most telling first.
var causes = []struct {
	cause Cause
	re    *regexp.Regexp
}{
	{BadFlag, regexp.MustCompile(`(?i)unknown (shorthand )?flag|flag provided but not defined|unrecognized feature gate|invalid argument ".*" for|invalid value ".*" for flag|error verifying flags|failed to verify flags|--[a-z0-9-]+: (Invalid|Required) value|--[a-z-]+ (must|can not|cannot|should) |unknown command|conflicting (environment variable|flag)`)},
	{PortTaken, regexp.MustCompile(`(?i)bind: address already in use`)},
	{NoSpace, regexp.MustCompile(`(?i)no space left on device|disk quota exceeded`)},
	{DataDamaged, regexp.MustCompile(`(?i)walpb: crc mismatch|failed to find database snapshot file|failed to recover v3 backend|wal: max entry size limit exceeded|invalid database|file size too small|failed to open WAL`)},
	{FileMissing, regexp.MustCompile(`(?i)(open|stat|load|read) [^ ]*/[^ ]*: (no such file or directory|permission denied)`)},
	{CertExpired, regexp.MustCompile(`(?i)certificate has expired|certificate has expired or is not yet valid|tls: expired certificate`)},
	{CertRefused, regexp.MustCompile(`(?i)certificate signed by unknown authority|tls: bad certificate|tls: unknown certificate authority|tls: certificate required|x509: certificate is (valid|not valid) for|x509: certificate is valid for|private key does not match|tls: failed to verify certificate`)},
	{NoMemory, regexp.MustCompile(`(?i)fatal error: runtime: out of memory|cannot allocate memory`)},
	{EtcdAway, regexp.MustCompile(`(?i)(:2379|etcd).*(connection refused|deadline exceeded|no such host|i/o timeout|connection reset)|error while dialing.*connection refused|etcdserver: (no leader|request timed out)`)},
	{APIAway, regexp.MustCompile(`(?i):6443.*(connection refused|i/o timeout|deadline exceeded|no such host|TLS handshake timeout)`)},
}

// Why tells why the component ended or cannot serve, by the last of its lines,
// and gives the line: the most telling of the causes that its last lines name.
func (t Tail) Why() (Cause, string) {
	for _, c := range causes {
		for i := len(t.Lines) - 1; i >= 0; i-- {
			if c.re.MatchString(t.Lines[i]) {
				return c.cause, plain(t.Lines[i])
			}
		}
	}
	return "", ""
}

// Says reports whether one of the last lines tells of the cause, and gives it.
func (t Tail) Says(want Cause) (string, bool) {
	for _, c := range causes {
		if c.cause != want {
			continue
		}
		for i := len(t.Lines) - 1; i >= 0; i-- {
			if c.re.MatchString(t.Lines[i]) {
				return plain(t.Lines[i]), true
			}
		}
	}
	return "", false
}

const maxQuoted = 220

var klogHead = regexp.MustCompile(`^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ [^\]]*\] `)

// plain is a line without its header, cut.
func plain(s string) string {
	s = strings.TrimSpace(klogHead.ReplaceAllString(s, ""))
	if len(s) > maxQuoted {
		s = strings.ToValidUTF8(s[:maxQuoted], "") + "…"
	}
	return s
}

// lastLines is how many lines of a log are kept: what a component says before
// it ends, with its usage in between.
const lastLines = 60

// ReadTail reads the end of a log, which may begin in the middle of a line.
func ReadTail(role Role, path string, b []byte) Tail {
	t := Tail{Role: role, Path: path}
	for line := range strings.Lines(string(b)) {
		l := logs.Parse([]byte(strings.TrimRight(line, "\r\n")))
		if l.Text == "" {
			continue
		}
		if !l.At.IsZero() {
			t.Last = l.At
		}
		t.Lines = append(t.Lines, l.Text[:min(len(l.Text), 1024)])
		if len(t.Lines) > 2*lastLines {
			t.Lines = append(t.Lines[:0], t.Lines[lastLines:]...)
		}
	}
	if n := len(t.Lines); n > lastLines {
		t.Lines = t.Lines[n-lastLines:]
	}
	return t
}
