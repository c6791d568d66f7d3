package suite

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is said of the incidents into docs/incidents.md")

const incidentsHead = `# Public incidents

What ktriage says of the evidence of incidents that were reported in public: log lines, descriptions and status as people
posted them, in [checks/suite/testdata/incidents](../checks/suite/testdata/incidents). It must say what the thread
established, and nothing that is more certain. Where the evidence is prose, or counts that someone made by hand, it says
nothing, and the table names what is missing.

Written by ` + "`go test ./checks/suite -run Incidents -update`" + `. Try one:
` + "`ktriage doctor --from checks/suite/testdata/incidents/19-etcd-slow-wal-fsync`" + `.

| incident | reported in | what ktriage says |
|---|---|---|
`

// TestIncidentsAreDocumented holds docs/incidents.md to what is said today.
func TestIncidentsAreDocumented(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(incidentsHead)
	names := make([]string, 0, len(incidents))
	for name := range incidents {
		names = append(names, name)
	}
	slices.Sort(names)
	told := 0
	for _, name := range names {
		want, dir := incidents[name], filepath.Join("testdata/incidents", name)
		source, err := os.ReadFile(filepath.Join(dir, "SOURCE.txt"))
		if err != nil {
			t.Fatal(err)
		}
		link, _, _ := strings.Cut(strings.TrimPrefix(string(source), "source: "), "\n")
		says := "nothing: " + want.not
		if want.not == "" {
			told++
			if says, err = sayings(dir, want); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, strings.ReplaceAll(link, "|", `\|`), strings.ReplaceAll(says, "|", `\|`))
	}
	fmt.Fprintf(&b, "\nIt says what is established of %d of %d, and is silent on %d for want of evidence.\n", told, len(names), len(names)-told)
	const page = "../../docs/incidents.md"
	if *update {
		if err := os.WriteFile(page, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), b.String()); diff != "" {
		t.Errorf("docs/incidents.md is not what is said today (-update writes it):\n%s", diff)
	}
}

// sayings lists what is said of an incident, as its expectation has it.
func sayings(dir string, want incident) (string, error) {
	findings, err := judge(dir, want.at)
	if err != nil {
		return "", err
	}
	var out []string
	for _, s := range want.say {
		for _, f := range findings {
			if f.Check == s.check && f.Status == s.status {
				summary := strings.NewReplacer("\n", " ", "<", "&lt;", "`", "'").Replace(f.Summary)
				out = append(out, fmt.Sprintf("%s `%s`: %s", f.Status, f.Check, summary))
				break
			}
		}
	}
	return strings.Join(out, "<br>"), nil
}
