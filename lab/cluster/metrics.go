package cluster

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Metrics are the samples of one reply, by name with labels as it was printed.
type Metrics map[string]float64

// EtcdMetrics reads what the etcd member on the given node counts.
func (l *Lab) EtcdMetrics(ctx context.Context, node int) (Metrics, error) {
	text, err := l.Read(ctx, node, fmt.Sprintf("http://127.0.0.1:%d/metrics", etcdMetricsPort))
	if err != nil {
		return nil, err
	}
	return parseMetrics(text), nil
}

// parseMetrics reads the Prometheus text format, as far as Go's components
// write it: no timestamps, no braces in label values.
func parseMetrics(text []byte) Metrics {
	metrics := Metrics{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		space := strings.LastIndexByte(line, ' ')
		if space < 0 {
			continue
		}
		if value, err := strconv.ParseFloat(line[space+1:], 64); err == nil {
			metrics[line[:space]] = value
		}
	}
	return metrics
}

// label finds the value of a label in the one sample of a family that has it.
func (m Metrics) label(family, label string) string {
	for sample := range m {
		rest, ok := strings.CutPrefix(sample, family+"{")
		if !ok {
			continue
		}
		if _, value, ok := strings.Cut(rest, label+`="`); ok {
			return value[:strings.IndexByte(value, '"')]
		}
	}
	return ""
}

// APIServerMetrics reads what the first API server counts.
func (l *Lab) APIServerMetrics(ctx context.Context) (Metrics, error) {
	client, err := l.Client()
	if err != nil {
		return nil, err
	}
	text, err := client.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("read metrics of the API server: %w", err)
	}
	return parseMetrics(text), nil
}

// Sum adds up the samples of a family that have all these labels, given as they
// are printed.
func (m Metrics) Sum(family string, labels ...string) float64 {
	sum := 0.0
samples:
	for sample, value := range m {
		if name, _, _ := strings.Cut(sample, "{"); name != family {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(sample, label) {
				continue samples
			}
		}
		sum += value
	}
	return sum
}
