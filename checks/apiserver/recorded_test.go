package apiserver

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/checktest"
	"github.com/ktriage/ktriage/collectors/capture"
)

// corpus holds recorded bodies of healthy clusters; see its INDEX.md. It is not
// part of the project.
const corpus = "../../../shared/corpus/metrics"

// TestRecordedClustersAreHealthy holds every check against what API servers of
// six minor versions really served: as one look, and with all that the process
// ever did inside the window.
func TestRecordedClustersAreHealthy(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus, "*", "controlplane", "api*server", "metrics"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("no recorded clusters in %s", corpus)
	}
	base, err := os.ReadFile("../checktest/testdata/kubeadm3.txtar")
	if err != nil {
		t.Fatal(err)
	}
	start := regexp.MustCompile(`(?m)^process_start_time_seconds .*$`)
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		version := strings.ReplaceAll(strings.Split(strings.TrimPrefix(file, corpus+"/"), "/")[0], "_", ".")
		// The recordings are years old; here they are of an API server that
		// has run for an hour.
		body = start.ReplaceAll(body, fmt.Appendf(nil, "process_start_time_seconds %d", checktest.Now.Add(-time.Hour).Unix()))
		common := []txtar.File{{Name: "get kube:/version", Data: fmt.Appendf(nil, `{"gitVersion":"v%s.8"}`, version)}}
		for _, list := range []string{"prioritylevelconfigurations", "flowschemas"} {
			common = append(common, txtar.File{Name: "list kube:/apis/flowcontrol.apiserver.k8s.io/v1/" + list, Data: []byte("gap: out of scope: it was not recorded\n")})
		}
		if version == "1.14" {
			for _, path := range []string{"readyz", "livez"} {
				common = append(common, txtar.File{Name: "get kube:/" + path + "?verbose", Data: []byte("gap: absent: HTTP 404 Not Found\n")})
			}
		}
		for name, first := range map[string][]byte{
			"one look":  []byte("gap: not asked: there is one file\n"),
			"all of it": start.Find(body),
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				if name == "all of it" {
					first = append(first, '\n')
				}
				a := &txtar.Archive{Files: append([]txtar.File{
					{Name: "scrape kube:/metrics #first", Data: first},
					{Name: "scrape kube:/metrics #last", Data: body},
				}, common...)}
				for _, line := range checktest.Judge(capture.NewScript(checktest.Now, checktest.Window, txtar.Parse(base), a), All...) {
					if name == "all of it" && strings.Contains(line, "events written a second") {
						continue // a life within ten seconds
					}
					if strings.HasPrefix(line, checks.Info.String()) {
						t.Log(line)
						continue // true, and advice
					}
					switch status, _, _ := strings.Cut(line, " "); status {
					case checks.OK.String(), checks.OutOfScope.String():
						t.Log(line)
					default:
						t.Error(line)
					}
				}
			})
		}
	}
}
