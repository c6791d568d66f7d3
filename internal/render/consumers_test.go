package render

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	// Its fixtures hold the schema of Jenkins for JUnit reports.
	_ "github.com/yannh/kubeconform/pkg/output"

	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/report/reporttest"
)

// jenkins finds the XML Schema by which Jenkins reads reports of JUnit: that of
// its plugin dtkit, (c) Thales Corporate Services, MIT licence, as it comes with
// the source of kubeconform, which holds its own reports against it.
func jenkins(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/yannh/kubeconform").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(strings.TrimSpace(string(out)), "fixtures", "junit.xsd")
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestJUnitIsAsTheSchemaOfJenkinsSays takes xmllint, of libxml2, for the judge.
func TestJUnitIsAsTheSchemaOfJenkinsSays(t *testing.T) {
	xmllint, err := exec.LookPath("xmllint")
	if err != nil {
		t.Skip("xmllint is not installed; it is in the package libxml2-utils")
	}
	xsd := jenkins(t)
	valid := func(doc []byte) (string, error) {
		cmd := exec.CommandContext(t.Context(), xmllint, "--nonet", "--noout", "--schema", xsd, "-")
		cmd.Stdin = bytes.NewReader(doc)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for name, r := range map[string]*report.Report{"sample": reporttest.Sample(), "hostile": reporttest.Hostile()} {
		if out, err := valid(rendered(t, "junit", r)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	bad := bytes.Replace(rendered(t, "junit", reporttest.Sample()), []byte("<testcase name="), []byte("<testcase title="), 1)
	if _, err := valid(bad); err == nil {
		t.Error("a test without a name passes: the schema does not judge")
	}
}

// TestMetricsAreAsPromtoolWantsThem takes the rules of promtool check metrics.
func TestMetricsAreAsPromtoolWantsThem(t *testing.T) {
	for name, r := range map[string]*report.Report{"sample": reporttest.Sample(), "hostile": reporttest.Hostile()} {
		problems, err := promlint.New(bytes.NewReader(rendered(t, "prometheus", r))).Lint()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s: %s", name, p.Metric, p.Text)
		}
	}
	problems, err := promlint.New(strings.NewReader("# TYPE x_total gauge\nx_total 1\n")).Lint()
	if err != nil || len(problems) == 0 {
		t.Errorf("nothing is told of a gauge without help that is named like a counter: %v", err)
	}
}
